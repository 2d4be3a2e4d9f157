"""Where plan meets backend: placing values, running statements, recording and running loops."""
