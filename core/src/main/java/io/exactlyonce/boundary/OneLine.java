package io.exactlyonce.boundary;

import java.util.regex.Pattern;

/**
 * Turns text from outside (such as an exception's message) into one line that is safe for a log, a terminal and a
 * store. Replaces characters that begin a line, move a terminal's cursor, change the direction of text or are
 * invisible. Also replaces halves of surrogate pairs.
 */
public final class OneLine {

    /**
     * Matches control characters, line separators, characters without width, and characters that change the direction
     * of the text. The zero-width joiner and non-joiner do not match, because words and emojis contain them.
     */
    private static final Pattern UNPRINTABLE =
            Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}[\\p{Cf}&&[^\\x{200C}\\x{200D}]]]+");

    private static final Pattern HALF_OF_A_PAIR = Pattern.compile("\\p{Cs}");

    private OneLine() {}

    /**
     * Returns a text as one line. Unsafe characters become spaces.
     *
     * @param text a text that the library did not write
     * @param most the number of characters after which the text is cut
     */
    public static String of(String text, int most) {
        String line = UNPRINTABLE.matcher(cut(text.replace("\0", ""), most)).replaceAll(" ");
        return HALF_OF_A_PAIR.matcher(line).replaceAll("\uFFFD");
    }

    private static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        boolean cutsPair = Character.isSurrogatePair(text.charAt(most - 1), text.charAt(most));
        return text.substring(0, cutsPair ? most - 1 : most);
    }
}
