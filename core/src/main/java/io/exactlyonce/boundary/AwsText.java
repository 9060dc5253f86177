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
 * Removes quoted values, such as receipt handles and keys, from messages of SQS and DynamoDB. A quoted value is between
 * quotes, behind the word {@code Value}, or behind a colon that follows a name. A long text without blanks is also
 * removed, because AWS quotes some receipt handles without any mark.
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
     * Matches the text from the first single quote to the last one. A quote within a word is an apostrophe, and does
     * not count. A quote behind one of the listed words begins a name, such as that of a parameter, and not a value. An
     * operator needs this name for the fix.
     */
    private static final Pattern SINGLE_QUOTED = Pattern.compile(
            "(?s)\\A((?>.*?(?<!\\b(?:at|not|service:|region|attribute|type|field|name|parameter) )(?<!\\w)'))"
                    + ".+(?='(?!\\w))");

    /**
     * Matches the value behind a name and a colon, up to the text that the SDK appends. Only names of values that a
     * sender chooses are listed.
     */
    private static final Pattern BEHIND_COLON = Pattern.compile(
            "(?si)((?:\\bnumeric value|\\binvalid (?:receipt ?handle|message|key|(?:[\\w]+ )?value)\\b[\\w ]{0,80}): )"
                    + ".+?(?= \\(Service: |\\z)");

    /**
     * Matches a text of at least 64 characters without blanks, which may be a receipt handle. Parts of ARNs and URLs do
     * not match, because a colon, a point or a slash precedes them.
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

    /**
     * Returns the message of a failure. If the failure is an exception of the SDK, the values that it quotes are
     * removed.
     */
    public static @Nullable String messageOf(Throwable failure) {
        String message = failure.getMessage();
        return message != null && failure instanceof SdkException ? withoutValues(message) : message;
    }

    /**
     * Returns the texts of AWS that quote values, each with its replacement without these values. The longest text
     * comes first. Callers also replace these texts in messages of the application's exceptions, which may repeat them.
     *
     * @param failures a failure with its causes and suppressed exceptions. The SDK's exception for its last attempt
     *     suppresses the exceptions of earlier attempts, which have texts of their own
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
     * Returns the message of an exception. For an error response of AWS, also returns the part of the message that AWS
     * itself wrote.
     */
    private static Stream<String> textsOf(Throwable failure) {
        String own = failure instanceof AwsServiceException answer && answer.awsErrorDetails() != null
                ? answer.awsErrorDetails().errorMessage()
                : null;
        return Stream.of(failure.getMessage(), own).filter(Objects::nonNull);
    }
}
