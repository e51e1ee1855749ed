// All hot loops and the table of them. Included once per instruction set, inside a namespace, by kernels.cpp, which
// defines PARSIMON_INSTRUCTION_SET as its name.
#include "exp_body.hpp"
#include "lanes_body.hpp"
#include "scores_body.hpp"
#include "semiring_body.hpp"
#include "pair_table_body.hpp"
#include "chain_body.hpp"
#include "chain_marginals_body.hpp"
#include "tree_body.hpp"
#include "chain_decoding_body.hpp"
#include "tree_decoding_body.hpp"
#include "screen_body.hpp"
#include "window_body.hpp"
#include "descent_body.hpp"

constexpr Kernels table{PARSIMON_INSTRUCTION_SET,
                        scores,
                        pullback,
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
                        chain_window,
                        screen_pairs,
                        screen_nodes,
                        descend,
                        dot,
                        exponentials};
