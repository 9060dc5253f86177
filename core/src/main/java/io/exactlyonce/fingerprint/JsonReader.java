package io.exactlyonce.fingerprint;

import java.util.HexFormat;

/**
 * Reads JSON (RFC 8259), and writes its canonical text. Not thread-safe.
 *
 * <p>Jackson is not used here. It would make a parser for each message and a string for each name, which would slow
 * down every delivery.
 */
final class JsonReader {

    /** Limit of a document's characters: four times as many as an SQS message may have. */
    static final int LONGEST = 1 << 22;

    private static final int SMALL = 1 << 10;
    private static final int MOST_KEPT = 1 << 16;
    private static final char END = 0;

    private final CanonicalJson json;
    private final byte[] captures;
    private char[] characters = new char[SMALL];
    private int length;
    private int at;
    private int capturedFrom;
    private int capturedTo;

    /**
     * @param json receives the canonical text
     * @param captures the name of a field of the outermost object, in quotes (for example {@code "Message"}). {@link
     *     #captured} returns the text of this field
     */
    JsonReader(CanonicalJson json, byte[] captures) {
        this.json = json;
        this.captures = captures;
    }

    /**
     * Reads a document, and forgets the previous one.
     *
     * @return whether the text is a JSON document within the limits
     */
    boolean read(String document) {
        clear();
        if (document.length() > LONGEST) {
            return false;
        }
        length = document.length();
        if (characters.length < length) {
            characters = new char[length];
        }
        document.getChars(0, length, characters, 0);
        json.begin(length);
        boolean isJson = readValue();
        while (isJson && json.isOpen()) {
            isJson = readNext();
        }
        if (isJson) {
            json.end();
        }
        return isJson && next() == END && at == length;
    }

    /** Frees memory that only a large document needed. */
    void clear() {
        if (characters.length > MOST_KEPT) {
            characters = new char[SMALL];
        }
        length = 0;
        at = 0;
        capturedFrom = 0;
        capturedTo = 0;
    }

    /** Reads the next field or value of the innermost object or array. If there is none, reads the closing bracket. */
    private boolean readNext() {
        boolean isInObject = json.isInObject();
        char next = next();
        if (next == (isInObject ? '}' : ']')) {
            at++;
            return isInObject ? json.endObject() : json.endArray();
        }
        if (!json.isEmpty() && !skip(',')) {
            return false;
        }
        return (!isInObject || readName()) && readValue();
    }

    private boolean readName() {
        if (next() != '"') {
            return false;
        }
        json.beginName();
        if (!readString()) {
            return false;
        }
        json.endName();
        return skip(':');
    }

    private boolean readValue() {
        return switch (next()) {
            case '{' -> skip('{') && json.beginObject();
            case '[' -> skip('[') && json.beginArray();
            case '"' -> readText() && json.endValue();
            case 't' -> readLiteral("true") && json.endValue();
            case 'f' -> readLiteral("false") && json.endValue();
            case 'n' -> readLiteral("null") && json.endValue();
            default -> readNumber() && json.endValue();
        };
    }

    private boolean readText() {
        boolean isCaptured = json.isAtOutermost(captures);
        int from = at + 1;
        if (!readString()) {
            return false;
        }
        if (isCaptured) {
            capturedFrom = from;
            capturedTo = at - 1;
        }
        return true;
    }

    private boolean readString() {
        Utf8Buffer text = json.text();
        at++;
        text.add('"');
        while (at < length) {
            at = text.addPlain(characters, at, length);
            char next = at < length ? characters[at++] : END;
            if (next == '"') {
                text.add('"');
                return true;
            }
            int character = next == '\\' ? readEscape() : next;
            if (character < 0 || next < ' ') {
                return false;
            }
            text.addInString((char) character);
        }
        return false;
    }

    /**
     * Reads the part of an escape that follows the backslash. Returns the character for which the escape stands; -1 if
     * the escape is invalid.
     */
    private int readEscape() {
        char escape = at < length ? characters[at++] : END;
        return switch (escape) {
            case '"', '\\', '/' -> escape;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> readHex();
            default -> -1;
        };
    }

    private int readHex() {
        int character = 0;
        for (int end = at + 4; at < end; at++) {
            if (at >= length || !HexFormat.isHexDigit(characters[at])) {
                return -1;
            }
            character = (character << 4) | HexFormat.fromHexDigit(characters[at]);
        }
        return character;
    }

    private boolean readLiteral(String literal) {
        int from = at;
        for (int i = 0; i < literal.length(); i++) {
            if (at == length || characters[at++] != literal.charAt(i)) {
                return false;
            }
        }
        json.text().addAscii(characters, from, at);
        return true;
    }

    private boolean readNumber() {
        int from = at;
        skipOne('-', '-');
        boolean isNumber = skipOne('0', '0') || readDigits();
        if (isNumber && skipOne('.', '.')) {
            isNumber = readDigits();
        }
        if (isNumber && skipOne('e', 'E')) {
            skipOne('+', '-');
            isNumber = readDigits();
        }
        json.text().addAscii(characters, from, at);
        return isNumber;
    }

    private boolean readDigits() {
        int from = at;
        while (at < length && characters[at] >= '0' && characters[at] <= '9') {
            at++;
        }
        return at > from;
    }

    private boolean skipOne(char one, char other) {
        boolean isThere = at < length && (characters[at] == one || characters[at] == other);
        if (isThere) {
            at++;
        }
        return isThere;
    }

    private boolean skip(char expected) {
        boolean isThere = next() == expected;
        at++;
        return isThere;
    }

    /** Skips white space. Returns the character after the white space, which is still to be read. */
    private char next() {
        while (at < length) {
            char next = characters[at];
            if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
                return next;
            }
            at++;
        }
        return END;
    }

    /** Returns the text of the field {@link #captures}; empty if the document has no such field. */
    String captured() {
        StringBuilder captured = new StringBuilder(capturedTo - capturedFrom);
        at = capturedFrom;
        while (at < capturedTo) {
            char next = characters[at++];
            captured.append(next == '\\' ? (char) readEscape() : next);
        }
        return captured.toString();
    }
}
