"""Text that cannot control a terminal."""

#: Characters that move the cursor, change colours or ring, all but ends of lines and tabs; and those of Unicode that
#: end lines or change the direction of writing.
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160))
_DIRECTIONS = (0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {code: f"\\x{code:02x}" for code in _CONTROLS} | {code: f"\\u{code:04x}" for code in _DIRECTIONS}


def escaped(text: str) -> str:
    """A text without control characters; they are spelled as in Python."""
    return text.translate(_ESCAPES)
