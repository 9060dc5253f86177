package io.exactlyonce.fingerprint;

import java.util.Arrays;

/**
 * Remembers where the fields of JSON objects begin in a buffer, and sorts them by name. The latest fields belong to the
 * innermost object, and are removed when it ends. A field is written as its name, a colon, its value and a comma. Not
 * thread-safe.
 */
final class FieldStack {

    private static final int FEW = 64;
    private static final int MOST_KEPT = 1 << 12;

    private final Utf8Buffer text;

    /** The place at which each field begins. */
    private int[] begins = new int[FEW];

    private int[] nameEnds = new int[FEW];

    /** The numbers of the fields, sorted by the fields' names. Merge sort needs {@link #merging} as a second array. */
    private int[] order = new int[FEW];

    private int[] merging = new int[FEW];

    private int size;

    FieldStack(Utf8Buffer text) {
        this.text = text;
    }

    void clear() {
        size = 0;
        if (begins.length > MOST_KEPT) {
            begins = new int[FEW];
            nameEnds = new int[FEW];
            order = new int[FEW];
            merging = new int[FEW];
        }
    }

    /** Begins a field at the end of the buffer. Its name is written next. */
    void begin() {
        if (size == begins.length) {
            begins = Arrays.copyOf(begins, 2 * size);
            nameEnds = Arrays.copyOf(nameEnds, 2 * size);
            order = Arrays.copyOf(order, 2 * size);
            merging = Arrays.copyOf(merging, 2 * size);
        }
        begins[size++] = text.length();
    }

    /** Ends the name of the last field. */
    void endName() {
        nameEnds[size - 1] = text.length();
    }

    /** Removes the fields of an object that has ended. */
    void end(int first) {
        size = first;
    }

    int size() {
        return size;
    }

    boolean isLastNamed(byte[] quoted) {
        return size > 0 && isNamed(size - 1, quoted);
    }

    boolean isNamed(int field, byte[] quoted) {
        int begin = begins[field];
        return nameEnds[field] - begin == quoted.length
                && Arrays.equals(text.bytes(), begin, begin + quoted.length, quoted, 0, quoted.length);
    }

    /**
     * Returns the field that has this place if the fields are sorted by name. The result is the field's number in the
     * unsorted object.
     */
    int sorted(int place) {
        return order[place];
    }

    int begin(int field) {
        return begins[field];
    }

    /** Returns where a field ends in the buffer, including its comma. */
    int afterComma(int field) {
        return field + 1 < size ? begins[field + 1] : text.length();
    }

    /**
     * Sorts the fields of the innermost object by name. Fields of the same name keep their order.
     *
     * @param from the object's first field
     * @return whether the fields were sorted already
     */
    boolean sort(int from) {
        boolean isSorted = true;
        for (int field = from; field < size; field++) {
            order[field] = field;
            isSorted &= field == from || compare(field - 1, field) <= 0;
        }
        if (!isSorted) {
            sort(from, size);
        }
        return isSorted;
    }

    private void sort(int from, int to) {
        int middle = (from + to) >>> 1;
        if (middle == from) {
            return;
        }
        sort(from, middle);
        sort(middle, to);
        System.arraycopy(order, from, merging, from, middle - from);
        int left = from;
        int right = middle;
        for (int place = from; left < middle; place++) {
            boolean takesRight = right < to && compare(order[right], merging[left]) < 0;
            order[place] = takesRight ? order[right++] : merging[left++];
        }
    }

    /** Compares two names. Most names differ in their first character, so this character is compared first. */
    private int compare(int one, int other) {
        int from = begins[one] + 1;
        int otherFrom = begins[other] + 1;
        int first = Byte.compareUnsigned(text.bytes()[from], text.bytes()[otherFrom]);
        return first != 0
                ? first
                : Arrays.compareUnsigned(text.bytes(), from, nameEnds[one], text.bytes(), otherFrom, nameEnds[other]);
    }
}
