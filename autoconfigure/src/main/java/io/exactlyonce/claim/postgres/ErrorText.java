package io.exactlyonce.claim.postgres;

/** Errors as they are kept: an error message may hold anything, and must not cost the write that records it. */
final class ErrorText {

    /** Longest error that is kept, in characters: it is for people, and every update copies the row. */
    static final int MAX_LENGTH = 1_000;

    private ErrorText() {}

    /** Leaves out what PostgreSQL's text does not take, and what is too long. */
    static String storable(String error) {
        String text = error.replace("\0", "");
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        boolean cutsPair = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1));
        return text.substring(0, cutsPair ? MAX_LENGTH - 1 : MAX_LENGTH);
    }
}
