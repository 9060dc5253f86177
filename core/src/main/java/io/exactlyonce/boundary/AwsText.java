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

    /**
     * Matches values between single quotes that are no apostrophes. The listed words precede names that a remedy needs,
     * such as a parameter, a region or an attribute.
     */
    private static final Pattern SINGLE_QUOTED = Pattern.compile(
            "(?s)\\A((?>.*?(?<!\\b(?:at|not|service:|region|attribute|type|field|name|parameter) )(?<!\\w)'))"
                    + ".+(?='(?!\\w))");

    /** Matches the value behind a colon, up to what the SDK appends. Only these names are of values that a sender chooses. */
    private static final Pattern BEHIND_COLON = Pattern.compile(
            "(?si)((?:\\bnumeric value|\\binvalid (?:receipt ?handle|message|key|(?:[\\w]+ )?value)\\b[\\w ]{0,80}): )"
                    + ".+?(?= \\(Service: |\\z)");

    /** Matches text as long as receipt handles are. ARNs and URLs continue behind a colon, a point or a slash. */
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

    /** Returns the message of a failure. Leaves out the values that AWS quotes in its own messages. */
    public static @Nullable String messageOf(Throwable failure) {
        String message = failure.getMessage();
        return message != null && failure instanceof SdkException ? withoutValues(message) : message;
    }

    /**
     * Returns the texts of AWS that quote values, the longest first, each with what may be shown of it. An application's
     * exception may repeat such a text in its own message, which is kept otherwise. The SDK's exception for the last
     * attempt suppresses exceptions with the texts of earlier attempts.
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

    /** Returns the message of an exception, and its part that is AWS's own. */
    private static Stream<String> textsOf(Throwable failure) {
        String own = failure instanceof AwsServiceException answer && answer.awsErrorDetails() != null
                ? answer.awsErrorDetails().errorMessage()
                : null;
        return Stream.of(failure.getMessage(), own).filter(Objects::nonNull);
    }
}
