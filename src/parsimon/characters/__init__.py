"""Characters: bytes as text in any encoding, and text that steers no terminal."""
