"""The numbers in a stream of Arrow's C interface as arrays, without a library for Arrow.

https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html describe the structures.
"""

import ctypes
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from gainful.array_types import AnyArray

_TYPES = dict(
    zip("cCsSiIlLfg", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"], strict=True)
)


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


def _release(kind: type[ctypes.Structure]) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.POINTER(kind))


def _call(kind: type[ctypes.Structure]) -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(kind))


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p), ("release", _release(_Schema)), ("private_data", ctypes.c_void_p),
]  # fmt: skip
_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.c_void_p), ("release", _release(_Array)),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip
_Stream._fields_ = [
    ("get_schema", _call(_Schema)), ("get_next", _call(_Array)),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", _release(_Stream)), ("private_data", ctypes.c_void_p),
]  # fmt: skip

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class StreamError(Exception):
    """The message of a stream that ends with an error."""


def blocks_of_numbers(
    stream: Callable[[], object], size: int
) -> Generator[dict[str, AnyArray], None, None]:
    """Yield the columns of a stream, which contain numbers and no missing values, in blocks of `size` rows.

    Args:
        stream: returns the capsule of the stream; it is called with the first block.
        size: the number of rows of each block but the last.
    """
    capsule = stream()
    opened = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    try:
        yield from _in_blocks(_chunks(opened, _columns(opened)), size)
    finally:
        opened.contents.release(opened)


def _columns(opened: Any) -> dict[str, np.dtype[Any]]:
    """Return the name and the type of each column."""
    schema = _Schema()
    _checked(opened, opened.contents.get_schema(opened, ctypes.byref(schema)))
    children = [schema.children[place].contents for place in range(schema.n_children)]
    columns = {each.name.decode(): np.dtype(_TYPES[each.format.decode()]) for each in children}
    schema.release(ctypes.byref(schema))
    return columns


def _chunks(opened: Any, columns: dict[str, np.dtype[Any]]) -> Iterator[dict[str, AnyArray]]:
    """Yield the columns of each chunk of the stream, which are only valid until the next one."""
    while True:
        chunk = _Array()
        _checked(opened, opened.contents.get_next(opened, ctypes.byref(chunk)))
        if not chunk.release:
            return
        try:
            yield {
                name: _array(chunk.children[place].contents, type_)
                for place, (name, type_) in enumerate(columns.items())
            }
        finally:
            chunk.release(ctypes.byref(chunk))


def _array(column: Any, type_: np.dtype[Any]) -> AnyArray:
    if column.null_count:
        raise StreamError("a missing value")
    size = (column.offset + column.length) * type_.itemsize
    if not size:
        return np.empty(0, type_)
    memory = (ctypes.c_char * size).from_address(column.buffers[1])
    return np.frombuffer(memory, type_)[column.offset :]


def _in_blocks(chunks: Iterator[dict[str, AnyArray]], size: int) -> Iterator[dict[str, AnyArray]]:
    block: dict[str, AnyArray] = {}
    filled = 0
    for chunk in chunks:
        length, start = len(next(iter(chunk.values()))), 0
        while start < length:
            if not filled:
                block = {name: np.empty(size, column.dtype) for name, column in chunk.items()}
            count = min(size - filled, length - start)
            for name, column in chunk.items():
                block[name][filled : filled + count] = column[start : start + count]
            filled, start = filled + count, start + count
            if filled == size:
                yield block
                filled = 0
    if filled:
        yield {name: column[:filled] for name, column in block.items()}


def _checked(opened: Any, code: int) -> None:
    if code:
        message = opened.contents.get_last_error(opened)
        raise StreamError((message or b"no message").decode(errors="replace"))
