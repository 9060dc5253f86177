package io.exactlyonce.guarantees;

import static io.exactlyonce.guarantees.PropertyMetadata.text;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.JsonNode;

/** Wrong and right values of properties, by their types and by the bounds in their descriptions. */
final class WrongValues {

    /** Properties whose wrong values are listed only here. */
    private static final Map<String, List<String>> OF_TEXTS = Map.of(
            "exactly-once.datasource.url",
            List.of(
                    "",
                    " ",
                    "db.example.com",
                    "jdbc:mysql://me:hunter2@db/shop",
                    "postgresql://db/shop",
                    "${NOWHERE}",
                    "\0"),
            "exactly-once.claim.table-name",
            List.of(
                    "",
                    "two words",
                    "Shop.claims",
                    "shop.claims.old",
                    "\"claims\"",
                    "claims; DROP TABLE claims",
                    "1st",
                    "x".repeat(51),
                    "x".repeat(64) + ".claims",
                    "${NOWHERE}"),
            "exactly-once.dynamodb.table-name",
            List.of(
                    "",
                    "ab",
                    "two words",
                    "arn:aws:dynamodb:eu-central-1:1:table/claims",
                    "x".repeat(256),
                    "${NOWHERE}"));

    /** Any text may be one. */
    static final Set<String> FREE_TEXTS =
            Set.of("exactly-once.datasource.username", "exactly-once.datasource.password");

    private static final Pattern RANGE = Pattern.compile("\\bfrom (\\d+(?:\\.\\d+)?\\w*) to (\\d+(?:\\.\\d+)?\\w*)");
    private static final Pattern LEAST = Pattern.compile("\\bat least (\\d+)");
    private static final String LINES = "1\u001B[2J\nexactly-once: all is well";

    private WrongValues() {}

    /** Returns whether this class has no wrong values for a property. */
    static boolean isUnknown(JsonNode property) {
        String name = text(property, "name");
        return isText(property) && !OF_TEXTS.containsKey(name) && !FREE_TEXTS.contains(name);
    }

    private static boolean isText(JsonNode property) {
        return text(property, "type").equals(String.class.getName());
    }

    /** Returns wrong values of a property. */
    static Stream<String> of(JsonNode property) {
        if (isText(property)) {
            return OF_TEXTS.getOrDefault(text(property, "name"), List.of()).stream();
        }
        if (text(property, "type").equals("java.util.Set<java.lang.String>")) {
            return Stream.of("nonsense", "lease,nonsense", "${NOWHERE}", LINES);
        }
        Stream<String> ofAnyType = Stream.of("nonsense", "${NOWHERE}", "null", LINES);
        return Stream.of(ofAnyType, ofType(text(property, "type")), beyond(property))
                .flatMap(values -> values);
    }

    private static Stream<String> ofType(String type) {
        return switch (type) {
            case "java.time.Duration" ->
                Stream.of("-1s", "1ms", "30 seconds", "1w", "99999999999999999999d", "9223372036854775807d");
            case "org.springframework.util.unit.DataSize" -> Stream.of("-1B", "64K", "1.5MB", "99999999999999999999B");
            case "java.lang.Integer" -> Stream.of("-1", "1.5", "99999999999", "1e1");
            case "java.lang.Double" -> Stream.of("-1", "NaN", "Infinity", "1e400", "0,5");
            default -> Stream.of("0.5", "true,false");
        };
    }

    private static Stream<String> beyond(JsonNode property) {
        String type = text(property, "type");
        List<String> values = new ArrayList<>();
        Matcher range = RANGE.matcher(text(property, "description"));
        Matcher least = LEAST.matcher(text(property, "description"));
        if (range.find()) {
            values.add(step(type, range.group(1), -1));
            values.add(step(type, range.group(2), 1));
        } else if (least.find()) {
            values.add(step(type, least.group(1), -1));
        }
        return values.stream();
    }

    /** Returns the values at the bounds, which are still valid. */
    static Stream<String> atBounds(JsonNode property) {
        Matcher range = RANGE.matcher(text(property, "description"));
        return range.find() ? Stream.of(range.group(1), range.group(2)) : Stream.empty();
    }

    /** Returns the next value of a type. */
    private static String step(String type, String value, int step) {
        return switch (type) {
            case "java.time.Duration" -> parse(value).plusMillis(step).toMillis() + "ms";
            case "org.springframework.util.unit.DataSize" ->
                DataSize.parse(value).toBytes() + step + "B";
            case "java.lang.Integer" -> String.valueOf(Long.parseLong(value) + step);
            case "java.lang.Double" ->
                new BigDecimal(value)
                        .add(new BigDecimal("0.001").multiply(BigDecimal.valueOf(step)))
                        .toPlainString();
            default -> throw new AssertionError("Decide what is beyond the bounds of a " + type);
        };
    }

    private static Duration parse(String value) {
        return DurationStyle.detectAndParse(value);
    }
}
