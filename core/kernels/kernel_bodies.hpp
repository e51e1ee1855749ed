// All hot loops and the table of them. Included once per instruction set, inside a namespace, by kernels.cpp, which
// defines PARSIMON_INSTRUCTION_SET as its name. Later bodies use earlier ones, so the order matters.
// clang-format off
#include "kernels/exp_body.hpp"
#include "kernels/lanes_body.hpp"
#include "kernels/outer_sums_body.hpp"
#include "kernels/dense_columns_body.hpp"
#include "kernels/linear_map_body.hpp"
#include "kernels/semiring_body.hpp"
#include "chains/pair_table_body.hpp"
#include "chains/chain_recursions_body.hpp"
#include "chains/tree_recursions_body.hpp"
#include "chains/chain_marginals_body.hpp"
#include "chains/chain_variances_body.hpp"
#include "chains/chain_decoding_body.hpp"
#include "chains/tree_decoding_body.hpp"
#include "chains/second_order_marginals_body.hpp"
#include "chains/second_order_decoding_body.hpp"
#include "kernels/screen_body.hpp"
#include "chains/window_body.hpp"
#include "chains/labelling_body.hpp"
#include "kernels/tall_matrix_body.hpp"
#include "kernels/quadratic_descent_body.hpp"
#include "kernels/paired_rows_body.hpp"
#include "dependency_trees/arc_sums_body.hpp"
// clang-format on

constexpr Kernels table{PARSIMON_INSTRUCTION_SET,
                        scores,
                        scores_from_rows,
                        pullback,
                        column_dots,
                        add_columns,
                        multiply,
                        chain_marginals,
                        chain_variances,
                        chain_score,
                        chain_add,
                        chain_argmax,
                        chain_kbest,
                        chain_sample,
                        tree_argmax,
                        tree_kbest,
                        tree_sample,
                        second_order_marginals,
                        second_order_variances,
                        second_order_score,
                        second_order_add,
                        second_order_argmax,
                        second_order_kbest,
                        second_order_sample,
                        chain_window,
                        template_scores,
                        template_labels,
                        template_marginals,
                        add_arc_sums,
                        add_token_sums,
                        screen_pairs,
                        screen_nodes,
                        descend,
                        paired_slopes,
                        paired_moments,
                        paired_products,
                        quadratic_rows,
                        tall_times,
                        tall_transposed_times,
                        tall_gram,
                        take_pair,
                        pseudo_gradient,
                        dot,
                        exponentials};
