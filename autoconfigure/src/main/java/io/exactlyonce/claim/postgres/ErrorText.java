package io.exactlyonce.claim.postgres;

import java.util.regex.Pattern;

/** Errors as they are kept: an error message may hold anything, and must not cost the write that records it. */
final class ErrorText {

    /** Longest error that is kept, in characters: it is for people, and every update copies the row. */
    static final int MAX_LENGTH = 1_000;

    /** What moves a terminal's cursor, begins a line of its own, or reverses what follows: an error stays what it is. */
    private static final Pattern CONTROLS =
            Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\\x{202A}-\\x{202E}\\x{2066}-\\x{2069}]+");

    private ErrorText() {}

    /** Makes one line of it, without what PostgreSQL's text does not take, and what is too long. */
    static String storable(String error) {
        return CONTROLS.matcher(cut(error.replace("\0", ""))).replaceAll(" ");
    }

    private static String cut(String text) {
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        boolean cutsPair = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1));
        return text.substring(0, cutsPair ? MAX_LENGTH - 1 : MAX_LENGTH);
    }
}
