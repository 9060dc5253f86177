package io.exactlyonce.boundary;

import java.util.regex.Pattern;

/**
 * Foreign text, such as a caller's name or an exception's message, as one line that is safe for a log, a terminal and a
 * store. Removes characters that begin a line, move a terminal's cursor, change the direction of text or are invisible,
 * and halves of surrogate pairs.
 */
public final class OneLine {

    /**
     * Controls, separators of lines, and marks without width or with a direction, except joiners within words and
     * emojis.
     */
    private static final Pattern UNPRINTABLE =
            Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}[\\p{Cf}&&[^\\x{200C}\\x{200D}]]]+");

    private static final Pattern HALF_OF_A_PAIR = Pattern.compile("\\p{Cs}");

    private OneLine() {}

    /**
     * Returns a text as one line: a space replaces what a log must not contain.
     *
     * @param text a text that the library did not write
     * @param most characters that are kept
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
