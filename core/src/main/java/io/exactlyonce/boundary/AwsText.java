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
     * Matches the text behind the first {@code Value}, up to {@code for parameter} or {@code at '}. The search does not
     * continue at a later {@code Value}, because that would take minutes for a text of 1 MiB.
     */
    private static final Pattern NAMED = Pattern.compile("(?s)\\A((?>.*?\\bValue )).+(?= for parameter | at ')");

    /** Matches the text from the first to the last double quote, because a value may contain quotes itself. */
    private static final Pattern QUOTED = Pattern.compile("(?s)(?<=\").+(?=\")");

    /**
     * Matches the text from the first single quote to the last one. Skips apostrophes within a word, and quotes behind
     * one of the listed words. The text behind such a word is a name (for example of a parameter), which an operator
     * needs for the fix.
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
     * Matches a text of at least 64 characters without blanks, which may be a receipt handle. Long parts of ARNs and
     * URLs do not match, because a colon, a point or a slash precedes them.
     */
    private static final Pattern LONG = Pattern.compile("(?<!\\bTable: )(?<![^\\s\"'`<>(\\[{=,;])[\\w+/=#-]{64,}");

    private AwsText() {}

    /** Returns the text with three dots in place of each value. */
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
     * Returns the messages of AWS exceptions that contain values, each with a copy without values. Callers use this map
     * to clean other exceptions, which may repeat these messages. A message may contain a shorter one, so the longest
     * message comes first.
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
