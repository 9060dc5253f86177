package io.exactlyonce.fingerprint;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text in UTF-8 to which characters can be added. If half of a surrogate pair stands alone, UTF-8 cannot represent it.
 * It is then written as three bytes that no valid text contains. Not thread-safe.
 */
final class Utf8Buffer {

    private static final int SMALL = 1 << 10;
    private static final int MOST_KEPT = 1 << 16;

    /** Space that is always enough for one character. */
    private static final int LONGEST = 6;

    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[SMALL];
    private int length;

    /** Frees memory that only a long text needed. */
    void clear() {
        length = 0;
        if (bytes.length > MOST_KEPT) {
            bytes = new byte[SMALL];
        }
    }

    void reserve(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }

    /** Returns the whole buffer, which may be longer than the text. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    void add(char ascii) {
        reserve(1);
        bytes[length++] = (byte) ascii;
    }

    boolean endsWith(char ascii) {
        return bytes[length - 1] == ascii;
    }

    void removeLast() {
        length--;
    }

    /** Adds a number or a literal. */
    void addAscii(char[] characters, int from, int to) {
        reserve(to - from);
        for (int i = from; i < to; i++) {
            bytes[length++] = (byte) characters[i];
        }
    }

    /** Adds characters as they are. */
    void addText(String text, int from, int to) {
        reserve(to - from);
        for (int i = from; i < to; i++) {
            char character = text.charAt(i);
            if (character < 0x80) {
                add(character);
            } else {
                addBeyondAscii(character);
            }
        }
    }

    /**
     * Adds characters of a JSON string, up to the first one that is not ASCII or may need an escape. Returns the index
     * of that character.
     */
    int addPlain(char[] characters, int from, int to) {
        reserve(to - from);
        byte[] target = bytes;
        int end = length;
        int i = from;
        while (i < to && isPlain(characters[i])) {
            target[end++] = (byte) characters[i++];
        }
        length = end;
        return i;
    }

    private static boolean isPlain(char character) {
        return character >= ' ' && character < 0x80 && character != '"' && character != '\\';
    }

    /** Adds a character of a JSON string, with the shortest escape if it needs one. */
    void addInString(char character) {
        if (character >= 0x80) {
            addBeyondAscii(character);
        } else if (isPlain(character)) {
            add(character);
        } else {
            addEscaped(character);
        }
    }

    private void addEscaped(char character) {
        add('\\');
        switch (character) {
            case '"', '\\' -> add(character);
            case '\b' -> add('b');
            case '\f' -> add('f');
            case '\n' -> add('n');
            case '\r' -> add('r');
            case '\t' -> add('t');
            default -> {
                add('u');
                add('0');
                add('0');
                add((char) HEX[character >> 4]);
                add((char) HEX[character & 0xF]);
            }
        }
    }

    /**
     * Adds a {@code char} that is not ASCII. If it is the second half of a surrogate pair, the bytes of the first half
     * are replaced by the bytes of the whole character.
     */
    private void addBeyondAscii(char character) {
        reserve(LONGEST);
        if (character < 0x800) {
            bytes[length++] = (byte) (0xC0 | (character >> 6));
        } else if (Character.isLowSurrogate(character) && endsWithHighSurrogate()) {
            length -= 3;
            addPair(Character.toCodePoint(highSurrogate(), character));
            return;
        } else {
            bytes[length++] = (byte) (0xE0 | (character >> 12));
            addTail(character >> 6);
        }
        addTail(character);
    }

    private boolean endsWithHighSurrogate() {
        return length >= 3 && bytes[length - 3] == (byte) 0xED && (bytes[length - 2] & 0xF0) == 0xA0;
    }

    /**
     * Decodes the first half of a surrogate pair from its three bytes. The caller has just made the text shorter by
     * these bytes, but has not overwritten them yet.
     */
    private char highSurrogate() {
        return (char) (0xD000 | ((bytes[length + 1] & 0x3F) << 6) | (bytes[length + 2] & 0x3F));
    }

    private void addPair(int point) {
        bytes[length++] = (byte) (0xF0 | (point >> 18));
        addTail(point >> 12);
        addTail(point >> 6);
        addTail(point);
    }

    private void addTail(int bits) {
        bytes[length++] = (byte) (0x80 | (bits & 0x3F));
    }
}
