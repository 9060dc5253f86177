package io.exactlyonce.boundary;

import java.util.regex.Pattern;

/**
 * A message of SQS or DynamoDB without the values that it quotes, such as receipt handles and keys. A quoted value is
 * between quotes, behind {@code Value}, or behind a colon that follows a name. A long text without blanks is left out
 * wherever it stands, because AWS also quotes receipt handles without any mark.
 */
public final class AwsText {

    /**
     * Matches a value that is named. The value begins at the first place that fits: to try all places would take
     * minutes for a text of 1 MiB.
     */
    private static final Pattern NAMED = Pattern.compile("(?s)\\A((?>.*?\\bValue )).+(?= for parameter | at ')");

    /** Matches values between double quotes. A value may have quotes itself. */
    private static final Pattern QUOTED = Pattern.compile("(?s)(?<=\").+(?=\")");

    /** Matches values between single quotes that are no apostrophes. The name behind {@code at} is a parameter's. */
    private static final Pattern SINGLE_QUOTED = Pattern.compile("(?s)\\A((?>.*?(?<!\\bat )(?<!\\w)')).+(?='(?!\\w))");

    /** Matches the value behind a colon, up to what the SDK appends. */
    private static final Pattern BEHIND_COLON =
            Pattern.compile("(?si)((?:\\bnumeric value|\\binvalid [\\w ]{1,80}): ).+?(?= \\(Service: |\\z)");

    /** Matches text as long as receipt handles are. ARNs and URLs continue behind a colon, a point or a slash. */
    private static final Pattern LONG = Pattern.compile("(?<![^\\s\"'(\\[{=,;])[\\w+/=#-]{64,}");

    private AwsText() {}

    /** Returns the text with three dots in place of each value. */
    public static String withoutValues(String text) {
        String named = NAMED.matcher(text).replaceFirst("$1...");
        String quoted = QUOTED.matcher(named).replaceAll("...");
        String single = SINGLE_QUOTED.matcher(quoted).replaceFirst("$1...");
        String behind = BEHIND_COLON.matcher(single).replaceFirst("$1...");
        return LONG.matcher(behind).replaceAll("...");
    }
}
