package io.exactlyonce.fingerprint;

import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The canonical text of a JSON document. Two documents with the same meaning have the same canonical text, and so the
 * same fingerprint. Fields are sorted by name, white space is left out, and each string has one spelling. Numbers stay
 * as they were written. If several fields of an object have the same name, they keep their order, because parsers use
 * the last of them. Not thread-safe.
 *
 * <p>{@link JsonReader} writes the document into a buffer. When an inner object ends, its fields are sorted in the
 * buffer. The outermost object's fields are not moved. Instead, {@link #addTo} digests them in sorted order.
 *
 * <p>Without limits, a sender's document could take much time to sort. So documents that exceed a limit are treated as
 * plain text.
 */
final class CanonicalJson {

    /**
     * Limit of nesting: 500 objects or arrays within each other. Jackson's default limit is the same, so a converter
     * with Jackson cannot read deeper documents either.
     */
    static final int DEEPEST = 500;

    /**
     * Limit of sorting: for each character of the document, 32 bytes may be moved. Without a limit, deeply nested
     * objects would be moved again at each level.
     */
    private static final int MOST_MOVES = 32;

    private static final int MOST_KEPT = 1 << 16;

    /** Marks an array in {@link #firsts}. */
    private static final int ARRAY = -1;

    private final Utf8Buffer text = new Utf8Buffer();
    private final FieldStack fields = new FieldStack(text);

    /**
     * One entry for each object or array that has not ended, from the outermost to the innermost. An object's entry is
     * the position of its first field in {@link #fields}. An array's entry is {@link #ARRAY}.
     */
    private final int[] firsts = new int[DEEPEST];

    private int depth;
    private byte[] unsorted = new byte[0];
    private long movable;

    /** True if the outermost object's fields are not in sorted order in the buffer. */
    private boolean isUnsorted;

    /**
     * Begins a new document, and drops the previous one.
     *
     * @param length the number of characters of the new document
     */
    void begin(int length) {
        clear();
        // Reserves one byte more than the document has, for a last comma that end() removes. Without this byte, the
        // buffer might be doubled for the comma.
        text.reserve(length + 1);
        movable = (long) MOST_MOVES * length;
    }

    /** Frees memory that only a large document needed. */
    void clear() {
        text.clear();
        fields.clear();
        if (unsorted.length > MOST_KEPT) {
            unsorted = new byte[0];
        }
        depth = 0;
        isUnsorted = false;
    }

    /** Begins an array. Returns false if the document is nested too deeply. */
    boolean beginArray() {
        text.add('[');
        return push(ARRAY);
    }

    boolean beginObject() {
        text.add('{');
        return push(fields.size());
    }

    private boolean push(int first) {
        if (depth == DEEPEST) {
            return false;
        }
        firsts[depth++] = first;
        return true;
    }

    void beginName() {
        fields.begin();
    }

    void endName() {
        fields.endName();
        text.add(':');
    }

    boolean endValue() {
        text.add(',');
        return true;
    }

    boolean endArray() {
        depth--;
        return close('[', ']');
    }

    /** Closes an array or an object. A comma follows each value, so the bracket replaces the last comma. */
    private boolean close(char opening, char closing) {
        if (!text.endsWith(opening)) {
            text.removeLast();
        }
        text.add(closing);
        return endValue();
    }

    /** Ends the document. */
    void end() {
        text.removeLast();
    }

    boolean endObject() {
        int first = firsts[--depth];
        boolean isSorted = fields.sort(first);
        if (depth == 0) {
            isUnsorted = !isSorted;
        } else {
            if (!isSorted && !move(first)) {
                return false;
            }
            fields.end(first);
        }
        return close('{', '}');
    }

    boolean isOpen() {
        return depth > 0;
    }

    boolean isInObject() {
        return firsts[depth - 1] != ARRAY;
    }

    boolean isEmpty() {
        return text.endsWith(isInObject() ? '{' : '[');
    }

    /** Returns whether the latest field has this name and belongs to the outermost object. */
    boolean isAtOutermost(byte[] name) {
        return depth == 1 && isInObject() && fields.isLastNamed(name);
    }

    private boolean move(int first) {
        int begin = fields.begin(first);
        int size = text.length() - begin;
        movable -= size;
        if (movable < 0) {
            return false;
        }
        if (unsorted.length < size) {
            unsorted = new byte[text.bytes().length];
        }
        System.arraycopy(text.bytes(), begin, unsorted, 0, size);
        int at = begin;
        for (int place = first; place < fields.size(); place++) {
            int field = fields.sorted(place);
            int length = fields.afterComma(field) - fields.begin(field);
            System.arraycopy(unsorted, fields.begin(field) - begin, text.bytes(), at, length);
            at += length;
        }
        return true;
    }

    /** Digests the canonical text. */
    void addTo(MessageDigest digest) {
        if (!isUnsorted) {
            digest.update(text.bytes(), 0, text.length());
            return;
        }
        digest.update((byte) '{');
        for (int place = 0; place < size(); place++) {
            addField(field(place), digest);
            digest.update((byte) (place + 1 < size() ? ',' : '}'));
        }
    }

    /** Digests a field of the outermost object: its name, a colon and its value. */
    void addField(int field, MessageDigest digest) {
        digest.update(text.bytes(), fields.begin(field), end(field) - fields.begin(field));
    }

    /** Digests a string field's text after its last colon, for example the topic's name in an ARN. */
    void addAfterColon(int field, MessageDigest digest) {
        int from = end(field);
        while (text.bytes()[from - 1] != ':') {
            from--;
        }
        digest.update(text.bytes(), from, end(field) - from);
    }

    Utf8Buffer text() {
        return text;
    }

    /** Returns the number of fields of the outermost object; 0 if the document is not an object. */
    int size() {
        return fields.size();
    }

    /**
     * Returns the number of a field in the outermost object, in the order of the document.
     *
     * @param place the field's place in the order of the names
     */
    int field(int place) {
        return fields.sorted(place);
    }

    private int end(int field) {
        return fields.afterComma(field) - 1;
    }

    /** Finds a field of the outermost object by its name. Returns -1 if no field, or more than one, has this name. */
    int only(byte[] name) {
        int only = -1;
        for (int field = 0; field < size(); field++) {
            if (isNamed(field, name)) {
                if (only >= 0) {
                    return -1;
                }
                only = field;
            }
        }
        return only;
    }

    boolean isNamed(int field, byte[] name) {
        return fields.isNamed(field, name);
    }

    /** Returns whether a field exists and is a string. */
    boolean isText(int field) {
        return field >= 0 && text.bytes()[end(field) - 1] == '"';
    }

    /** Returns whether a field exists and has this name and value. */
    boolean isField(int field, byte[] nameAndValue) {
        return field >= 0
                && Arrays.equals(text.bytes(), fields.begin(field), end(field), nameAndValue, 0, nameAndValue.length);
    }
}
