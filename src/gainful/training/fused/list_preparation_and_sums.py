"""Steps shared by kernels of whole losses: gains, ideal and order first, the sums last.

Plain code needs dozens of small kernels for this, and launching them takes longer than all pairs.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

from gainful.training.fused.tickets_of_programs import done, is_last, publish, published, wait_for

GAINS = ("linear", "exp2", "binary")  # supported by the kernels
WIDEST = 4096  # the most documents of a list that one program sorts
# Counters: tickets, prepared lists, summed lists, and the progress of each list: documents stored,
# everything stored, then one for each finished block.
_READY, _SUMMED, _LISTS = (tl.constexpr(i) for i in range(1, 4))
_LISTED, _PREPARED = tl.constexpr(1), tl.constexpr(2)
_CHUNK = tl.constexpr(512)  # lists that are summed together
_MOST_BLOCKS = tl.constexpr(256)  # per list


@triton.jit
def gains_of(grade, gain: tl.constexpr):
    """Return the gain of each grade."""
    worth = grade
    if gain == "exp2":
        # 2^g is exact for whole grades; 2^g − 1 loses digits for small ones.
        whole = grade == tl.floor(grade)
        worth = tl.where(whole, tl.exp2(grade) - 1.0, libdevice.expm1(grade * 0.6931471805599453))
    if gain == "binary":
        worth = (grade > 0).to(tl.float32)
    return worth


@triton.jit
def keys_of(score, there, places, size: tl.constexpr):
    """Return distinct keys that rise with the score; among equal scores, the first has the highest.

    The keys of padding are below all others.
    """
    # The bits of a float rise with its value, except for negative ones.
    bits = tl.where(score == 0, 0.0, score).to(tl.int32, bitcast=True)
    rising = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    rising = tl.where(there, rising, -0x80000000)
    return rising * 0x100000000 + (size - 1 - places)


def room_of(lists: int, width: int, blocks: int, *, ranked: bool) -> int:
    """Return how many 32-bit numbers the pieces of a loss pass to each other, counters first."""
    return 3 + lists + (3 + ranked) * lists * width + (5 + blocks) * lists + 1


@triton.jit
def counters_in(room):
    """Return the pointer to the counters."""
    return room.to(tl.pointer_type(tl.int32), bitcast=True)


@triton.jit
def lists_in(room, lists):
    """Return pointers to each list's start, weight, range, divisor, value and block sums."""
    starts = room + 3 + lists
    values = starts + 4 * lists
    divisor = values + lists
    sums = divisor + 1
    return starts, starts + lists, starts + 2 * lists, starts + 3 * lists, divisor, values, sums


@triton.jit
def documents_in(room, lists, width, blocks, at):
    """Return pointers to a list's scores, shares, third numbers and order of documents.

    The third number is the label of a document in a ranked list, or the derivative by its rank.
    """
    area = lists.to(tl.int64) * width
    own = room + (3 + lists + (5 + blocks) * lists + 1) + at.to(tl.int64) * width
    order = (own + 3 * area).to(tl.pointer_type(tl.int32), bitcast=True)
    return own, own + area, own + 2 * area, order


@triton.jit
def piece_of(ticket, lists, blocks, ahead):
    """Return the list and block that a ticket stands for; block −1 prepares the list.

    Some lists are prepared ahead. After them, each list is prepared before the blocks of an earlier
    one, so that lists are sorted while pairs are computed, and are soon read again.
    """
    mixed = (lists - ahead) * (blocks + 1)
    later = ticket - ahead
    rest = later - mixed
    group, place = later // (blocks + 1), later % (blocks + 1)
    at = tl.where(
        later < mixed, group + tl.where(place == 0, ahead, 0), lists - ahead + rest // blocks
    )
    block = tl.where(later < mixed, place - 1, rest % blocks)
    return tl.where(later < 0, ticket, at), tl.where(later < 0, -1, block)


@triton.jit
def prepare_list(
    at, scores, labels, mask, weight, discounts, room, lists, width, blocks, depth,
    gain: tl.constexpr, normalized: tl.constexpr, ranked: tl.constexpr, reduction: tl.constexpr,
    size: tl.constexpr,
):  # fmt: skip
    """Store the inputs that a loss needs from a list, in rank order if it needs ranks.

    Padding has scores of −∞ and labels of NaN. The start of a list is the number that its terms are
    added to or subtracted from: 1 for 1 − nDCG, 0 for −DCG and for a sum over pairs, and NaN if a
    score or a label is NaN.
    """
    counters = counters_in(room)
    listed, shares, grades, order = documents_in(room, lists, width, blocks, at)
    starts, weights, highs, lows, divisor, _, _ = lists_in(room, lists)
    base = at.to(tl.int64) * width
    places = tl.arange(0, size)
    inside = places < width
    there = inside
    if mask is not None:
        there = inside & (tl.load(mask + base + places, mask=inside, other=0) != 0)
    score = tl.load(scores + base + places, mask=there, other=-float("inf")).to(tl.float32)
    grade = tl.load(labels + base + places, mask=there, other=0.0).to(tl.float32)
    tl.store(highs + at, tl.max(score, axis=0))
    tl.store(lows + at, tl.min(tl.where(score == -float("inf"), float("inf"), score), axis=0))
    if not ranked:
        tl.store(listed + places, score, mask=inside)
        done(counters + _LISTS + at)
    worth = tl.where(there, gains_of(grade, gain), 0.0)
    best = tl.sort(tl.maximum(worth, 0.0), descending=True)
    discount = tl.load(discounts + places, mask=inside & (places < depth), other=0.0)
    ideal = tl.sum(best * discount, axis=0)
    count = tl.sum(there.to(tl.int32), axis=0)
    scale = 1.0
    if normalized:
        scale = tl.where(ideal > 0, 1.0 / tl.where(ideal > 0, ideal, 1.0), 0.0)
    start = tl.where((ideal > 0) & normalized & (ranked == 0), 1.0, 0.0)
    infinite = there & (tl.abs(score) == float("inf"))
    unknown = tl.max(((score != score) | infinite | (grade != grade)).to(tl.int32), axis=0)
    # A sum that overflows the type would make every quotient 0.
    known_sum = (unknown == 0) & (ideal < float("inf"))
    tl.store(starts + at, tl.where(known_sum, start, float("nan")))
    part = tl.where(count > 0, 1.0, 0.0)
    if weight is not None:
        part = tl.where(count > 0, tl.load(weight + at).to(tl.float32), 0.0)
    tl.store(weights + at, part)
    if ranked:
        keys = tl.sort(keys_of(score, there, places, size), descending=True)
        place = (size - 1 - (keys & 0xFFFFFFFF)).to(tl.int32)
        real = places < count
        tl.store(order + places, place, mask=inside)
        score = tl.load(scores + base + place, mask=real, other=-float("inf")).to(tl.float32)
        grade = tl.load(labels + base + place, mask=real, other=float("nan")).to(tl.float32)
        worth = tl.where(real, gains_of(grade, gain), 0.0)
        tl.store(grades + places, grade, mask=inside)
        tl.store(listed + places, score, mask=inside)
    tl.store(shares + places, worth * scale, mask=inside)
    done(counters + _LISTS + at, _PREPARED if ranked else _PREPARED - _LISTED)
    if is_last(counters + _READY, lists):
        whole = 1.0
        if reduction == "mean":
            whole = sum_of(weights, lists)
            whole = tl.where(whole > 0, whole, 1.0)
        publish(divisor, whole)


@triton.jit
def slope_of(at, room, lists, factor):
    """Return the weight of a list's terms in the loss; NaN for a list with NaN.

    It is defined once all lists are prepared.
    """
    starts, weights, _, _, divisor, _, _ = lists_in(room, lists)
    return factor * tl.load(weights + at) / published(divisor) + 0.0 * tl.load(starts + at)


@triton.jit
def wait_for_documents(at, counters):
    """Wait until scores and their range are stored; return whether the whole list is prepared."""
    return wait_for(counters + _LISTS + at, _LISTED) >= _PREPARED


@triton.jit
def wait_for_list(at, counters):
    """Wait until a list is prepared."""
    wait_for(counters + _LISTS + at, _PREPARED)


@triton.jit
def wait_for_blocks(at, counters, blocks):
    """Wait until all blocks of a list are finished."""
    wait_for(counters + _LISTS + at, _PREPARED + blocks)


@triton.jit
def finish_block(
    at, block, total, room, loss, lists, blocks, sign, factor, reduction: tl.constexpr
):
    """Store the sum of a block's terms; the last block of a list, and the last of all, add them up.

    The result is start + sign·Σ terms of each list, or their weighted sum over the divisor.
    """
    counters = counters_in(room)
    starts, weights, _, _, divisor, values, partial = lists_in(room, lists)
    tl.store(partial + at * blocks + block, total)
    if is_last(counters + _LISTS + at, _PREPARED + blocks):
        there = tl.arange(0, _MOST_BLOCKS)
        terms = tl.load(partial + at * blocks + there, mask=there < blocks, other=0.0)
        value = tl.load(starts + at) + sign * tl.sum(terms, axis=0)
        value *= factor * tl.load(weights + at)
        tl.store(values + at, value)
        if reduction == "none":
            tl.store(loss + at, value)
        elif is_last(counters + _SUMMED, lists):
            tl.store(loss, sum_of(values, lists) / published(divisor))


@triton.jit
def sum_of(values, lists):
    """Sum the numbers of all lists, in the same order every time."""
    total = tl.zeros((_CHUNK,), tl.float32)
    for first in range(0, lists, _CHUNK):
        at = first + tl.arange(0, _CHUNK)
        total += tl.load(values + at, mask=at < lists, other=0.0)
    return tl.sum(total, axis=0)
