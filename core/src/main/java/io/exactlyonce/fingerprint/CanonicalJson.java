package io.exactlyonce.fingerprint;

import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The canonical text of a JSON document: fields sorted by name, no white space, one spelling of each string, and
 * numbers as they were written. If an object has several fields of one name, they keep their order, because readers
 * take the last of them. Not thread-safe.
 *
 * <p>{@link JsonReader} writes the document into one buffer. When an inner object ends, its fields are moved into the
 * order of their names. The fields of the outermost object are not moved, but digested in this order. Memory and time
 * have limits that depend only on the length of the document.
 */
final class CanonicalJson {

    /**
     * The limit of arrays and objects within each other. Jackson's default limit is the same, so a converter that uses
     * Jackson reads no deeper documents either.
     */
    static final int DEEPEST = 500;

    /**
     * The most moves of each byte, on average. The number is limited because each level of nested objects may move its
     * content once more.
     */
    private static final int MOST_MOVES = 32;

    private static final int MOST_KEPT = 1 << 16;

    /** Marks an array in {@link #firsts}. */
    private static final int ARRAY = -1;

    private final Utf8Buffer text = new Utf8Buffer();
    private final FieldStack fields = new FieldStack(text);

    /**
     * The open objects and arrays, from the outermost to the innermost. The entry of an object is the number of its
     * first field, and the entry of an array is {@link #ARRAY}.
     */
    private final int[] firsts = new int[DEEPEST];

    private int depth;
    private byte[] unsorted = new byte[0];
    private long movable;

    /** True if the fields of the outermost object are not in the order of their names. */
    private boolean isUnsorted;

    /**
     * Drops the previous document, and begins a new one.
     *
     * @param length the number of characters of the new document
     */
    void begin(int length) {
        clear();
        // One more byte is reserved for the comma after the outermost value, because otherwise this comma could double
        // the buffer.
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

    /** Begins an array. Like other steps that return a boolean, returns false if the document exceeds a limit. */
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

    /** Begins a field. The next text is its name. */
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

    /** Closes an array or an object. The bracket replaces the comma after the last value. */
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

    /** Returns whether an array or an object is open. */
    boolean isOpen() {
        return depth > 0;
    }

    boolean isInObject() {
        return firsts[depth - 1] != ARRAY;
    }

    /** Returns whether the innermost open array or object has no value yet. */
    boolean isEmpty() {
        return text.endsWith(isInObject() ? '{' : '[');
    }

    /** Returns whether the last field belongs to the outermost object and has this name. */
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

    /** Digests a field of the outermost object, without a comma. */
    void addField(int field, MessageDigest digest) {
        digest.update(text.bytes(), fields.begin(field), end(field) - fields.begin(field));
    }

    /** Digests the part of a string field of the outermost object that follows the field's last colon. */
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

    /** Returns the field that stands at a place when the fields of the outermost object are sorted by name. */
    int field(int place) {
        return fields.sorted(place);
    }

    private int end(int field) {
        return fields.afterComma(field) - 1;
    }

    /** Returns the field of the outermost object that has this name; -1 if no field has it, or several. */
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
