package io.exactlyonce.boundary;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Removes values, such as receipt handles and keys, from error messages of SQS and DynamoDB, so that the messages can
 * be logged. AWS writes a value between quotes, behind the word {@code Value}, or behind a name and a colon. Some
 * receipt handles have no such mark, so long texts without blanks are removed, too.
 */
public final class AwsText {

    /**
     * Matches the text after the first word {@code Value}, up to the last {@code for parameter} or {@code at '}. Only
     * the first {@code Value} is tried, because a search at each one would take minutes for 1 MiB of text.
     */
    private static final Pattern NAMED = Pattern.compile("(?s)\\A((?>.*?\\bValue )).+(?= for parameter | at ')");

    /** Matches the text from the first to the last double quote, because a value may contain quotes itself. */
    private static final Pattern QUOTED = Pattern.compile("(?s)(?<=\").+(?=\")");

    /**
     * Matches the text between the first single quote and the last one. Apostrophes within a word do not count as
     * quotes. A quote directly after one of the listed words does not count as the first quote. Such a quote encloses a
     * name (for example of a parameter), which an operator needs for the fix.
     */
    private static final Pattern SINGLE_QUOTED = Pattern.compile(
            "(?s)\\A((?>.*?(?<!\\b(?:at|not|service:|region|attribute|type|field|name|parameter) )(?<!\\w)'))"
                    + ".+(?='(?!\\w))");

    /**
     * Matches the value behind one of the listed names and a colon (for example behind {@code Invalid key:}). The value
     * ends where the SDK has appended {@code (Service:}. Other names are not listed, because a sender cannot choose
     * their values.
     */
    private static final Pattern BEHIND_COLON = Pattern.compile(
            "(?si)((?:\\bnumeric value|\\binvalid (?:receipt ?handle|message|key|(?:[\\w]+ )?value)\\b[\\w ]{0,80}): )"
                    + ".+?(?= \\(Service: |\\z)");

    /**
     * Matches a text of at least 64 characters without blanks, such as a receipt handle. It must follow a blank, a
     * quote, an opening bracket, an equals sign, a comma or a semicolon. Long parts of ARNs and URLs follow a colon, a
     * point or a slash, and do not match.
     */
    private static final Pattern LONG = Pattern.compile("(?<!\\bTable: )(?<![^\\s\"'`<>(\\[{=,;])[\\w+/=#-]{64,}");

    private AwsText() {}

    /** Returns the text with three dots in place of each value that AWS quotes. */
    public static String withoutValues(String text) {
        String named = NAMED.matcher(text).replaceFirst("$1...");
        String quoted = QUOTED.matcher(named).replaceAll("...");
        String single = SINGLE_QUOTED.matcher(quoted).replaceFirst("$1...");
        String behind = BEHIND_COLON.matcher(single).replaceFirst("$1...");
        return LONG.matcher(behind).replaceAll("...");
    }

    /** Returns the message of a failure. If the AWS SDK threw it, values are removed from the message. */
    public static @Nullable String messageOf(Throwable failure) {
        String message = failure.getMessage();
        return message != null && failure instanceof SdkException ? withoutValues(message) : message;
    }

    /**
     * Finds the messages of AWS exceptions that quote values. Returns each of these messages with a copy that has no
     * values. Callers use the copy wherever the message occurs, because other exceptions may repeat it. The longest
     * message comes first, because a long message may contain a shorter one.
     *
     * @param failures a failure with all its causes and suppressed exceptions
     */
    static Map<String, String> quotesIn(Stream<Throwable> failures) {
        Map<String, String> quotes = new LinkedHashMap<>();
        failures.filter(SdkException.class::isInstance)
                .flatMap(AwsText::textsOf)
                .sorted(Comparator.comparing(String::length).reversed())
                .forEach(text -> quotes.put(text, withoutValues(text)));
        quotes.entrySet().removeIf(quote -> quote.getKey().equals(quote.getValue()));
        return quotes;
    }

    /**
     * Returns two texts: the exception's whole message, and the part of it that AWS wrote. Other exceptions may repeat
     * either text.
     */
    private static Stream<String> textsOf(Throwable failure) {
        String own = failure instanceof AwsServiceException answer && answer.awsErrorDetails() != null
                ? answer.awsErrorDetails().errorMessage()
                : null;
        return Stream.of(failure.getMessage(), own).filter(Objects::nonNull);
    }
}
