"""Vectors as values in kernels: one number per lane, with operators.

They are compiled to generic LLVM vectors, which work on any processor whose first byte is the lowest.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

#: Lanes of a vector.
WIDTH = 8

_INT, _LONG, _DOUBLE, _BIT = ir.IntType(32), ir.IntType(64), ir.DoubleType(), ir.IntType(1)


class Lanes(types.Type):
    """A vector with one number per lane."""

    def __init__(self, element, number=None):
        self.vector, self.number = ir.VectorType(element, WIDTH), number
        super().__init__(f"lanes of {element}")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)


INT, LONG, FLOAT = Lanes(_INT, types.int32), Lanes(_LONG, types.int64), Lanes(_DOUBLE, types.float64)
MASK = Lanes(_BIT)
_OF = {kind.number: kind for kind in (INT, LONG, FLOAT)}


def _operator(symbol, whole, real=None, comparison=None):
    """Let vectors of one kind, or a vector and a number, be operands; names are those of the builder's methods."""

    def generate(context, builder, signature, arguments):
        name = real if signature.args[0] == FLOAT else whole
        return getattr(builder, name)(*([comparison] if comparison else []), *arguments)

    @intrinsic
    def apply(typing, a, b):
        return (MASK if comparison else a)(a, b), generate

    @overload(symbol)
    def _(a, b):
        if isinstance(a, Lanes) and a == b:
            return lambda a, b: apply(a, b)
        if isinstance(a, Lanes) and isinstance(b, types.Number):
            number = a.number
            return lambda a, b: apply(a, everywhere(number(b)))
        return None


for _symbol, *_names in (
    (operator.add, "add", "fadd"), (operator.sub, "sub", "fsub"), (operator.mul, "mul", "fmul"),
    (operator.and_, "and_"), (operator.or_, "or_"), (operator.xor, "xor"), (operator.rshift, "lshr"),
    (operator.lshift, "shl"), (operator.lt, "icmp_signed", "fcmp_ordered", "<"),
    (operator.gt, "icmp_signed", "fcmp_ordered", ">"), (operator.le, "icmp_signed", "fcmp_ordered", "<="),
    (operator.eq, "icmp_signed", "fcmp_ordered", "=="),
):  # fmt: skip
    _operator(_symbol, *_names)


@intrinsic
def everywhere(typing, number):
    """A number in all lanes."""

    def generate(context, builder, signature, arguments):
        one = builder.insert_element(ir.Constant(signature.return_type.vector, ir.Undefined), arguments[0], _INT(0))
        return _shuffled(builder, one, one, [0] * WIDTH)

    return _OF[number](number), generate


@intrinsic
def where(typing, mask, a, b):
    """``a`` where the mask is set, else ``b``."""
    return a(mask, a, b), lambda context, builder, signature, arguments: builder.select(*arguments)


@intrinsic
def within(typing, a, end):
    """Whether 0 <= a < end."""
    return MASK(a, end), lambda context, builder, signature, arguments: builder.icmp_unsigned("<", *arguments)


@intrinsic
def low_half(typing, a):
    """The lower 32 bits of 64."""
    return INT(a), lambda context, builder, signature, arguments: builder.trunc(arguments[0], INT.vector)


@intrinsic
def bits(typing, mask):
    """A mask as a number: bit 0 is the first lane."""

    def generate(context, builder, signature, arguments):
        return builder.zext(builder.bitcast(arguments[0], ir.IntType(WIDTH)), _LONG)

    return types.int64(mask), generate


def _shuffled(builder, a, b, order):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, len(order)), list(order)))


def _row(context, builder, signature, arguments, kind):
    """Pointer to row ``i`` of ``array[i, lane]``."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.bitcast(builder.gep(data, [builder.mul(arguments[1], _LONG(WIDTH))]), kind.vector.as_pointer())


@intrinsic
def load(typing, array, i):
    """Row ``i`` of ``array[i, lane]``."""
    kind = _OF[array.dtype]

    def generate(context, builder, signature, arguments):
        return builder.load(_row(context, builder, signature, arguments, kind), align=4)

    return kind(array, types.int64), generate


@intrinsic
def keep(typing, array, i, values):
    """Store row ``i`` of ``array[i, lane]``."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _row(context, builder, signature, arguments, values), align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, values), generate


def _places(context, builder, signature, arguments):
    """Pointers to ``array[index]``, one per lane.

    Moves from vectors to addresses are scarce, so indices move in pairs; the assembly keeps them together.
    """
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    pairs, same = builder.bitcast(arguments[1], ir.VectorType(_LONG, WIDTH // 2)), ir.FunctionType(_LONG, [_LONG])
    for i in range(WIDTH // 2):
        pair = builder.asm(same, "", "=r,0", [builder.extract_element(pairs, _INT(i))], side_effect=False)
        yield builder.gep(data, [builder.and_(pair, _LONG(0xFFFFFFFF))])
        yield builder.gep(data, [builder.lshr(pair, _LONG(32))])


@intrinsic
def take(typing, array, index):
    """``array[index]``, as 32 or 64 bits."""
    kind = LONG if array.dtype.bitwidth == 64 else INT

    def generate(context, builder, signature, arguments):
        taken = ir.Constant(kind.vector, ir.Undefined)
        for lane, place in enumerate(_places(context, builder, signature, arguments)):
            taken = builder.insert_element(taken, builder.load(place), _INT(lane))
        return taken

    return kind(array, index), generate


@intrinsic
def put(typing, array, index, values):
    """``array[index] = values``."""

    def generate(context, builder, signature, arguments):
        for lane, place in enumerate(_places(context, builder, signature, arguments)):
            builder.store(builder.extract_element(arguments[2], _INT(lane)), place)
        return context.get_dummy_value()

    return types.void(array, index, values), generate


@intrinsic
def take_rows(typing, q, index):
    """``q[index]`` to ``q[index + 3]``, as a vector for each of the four; the next row but one will soon be needed."""
    four, byte = ir.VectorType(_DOUBLE, 4).as_pointer(), ir.IntType(8).as_pointer()

    def generate(context, builder, signature, arguments):
        places = [*_places(context, builder, signature, arguments)]
        rows = [builder.load(builder.bitcast(place, four), align=8) for place in places]
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, *[_INT] * 3])
        )
        for place in places:
            soon = builder.bitcast(builder.gep(place, [_LONG(8)]), byte)
            builder.call(fetch, [soon, _INT(0), _INT(3), _INT(1)])
        # Lanes i and i + 4 in one vector; then two transpositions of four by four, in both halves at once.
        a, b, c, d = (_shuffled(builder, rows[i], rows[i + 4], range(8)) for i in range(4))
        even, odd = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
        left, right = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
        halves = [(_shuffled(builder, a, b, order), _shuffled(builder, c, d, order)) for order in (even, odd)]
        made = [_shuffled(builder, *half, order) for order in (left, right) for half in halves]
        return context.make_tuple(builder, signature.return_type, made)

    return types.UniTuple(FLOAT, 4)(q, index), generate
