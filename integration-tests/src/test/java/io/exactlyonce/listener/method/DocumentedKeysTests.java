package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.DocumentedCode;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The expressions and headers in {@code docs/listener.md}. Some fail startup, and the others work. */
class DocumentedKeysTests {

    record Customer(String name, String number) {}

    record Order(String orderId, Customer customer, Instant sentAt, BigDecimal amount, String a, String b) {}

    static class Parcel {

        public String getNumber() {
            return "P-1";
        }
    }

    static class Listener {
        void fulfil(Order order, Parcel parcel) {}
    }

    private static final Method METHOD = ListenerRig.method(Listener.class, "fulfil");

    private static final DocumentedCode PAGE = DocumentedCode.of("listener.md");

    @Test
    void examplesFailStartupAndWhatToWriteInsteadDoesNot() {
        List<String> right = new ArrayList<>();
        for (List<String> row : rows("Keys that fail startup")) {
            assertThat(code(row.get(1))).isNotEmpty().allSatisfy(DocumentedKeysTests::assertRefused);
            right.addAll(code(row.get(2)));
        }

        assertThat(right).hasSizeGreaterThan(8).allSatisfy(DocumentedKeysTests::assertAccepted);
    }

    @Test
    void headersAreUsableAsThePageSays() {
        int judged = 0;
        for (List<String> row : rows("Headers in keys")) {
            for (String name : code(row.get(0))) {
                String read = name.startsWith("#") ? name : "#headers['%s'].toString()".formatted(name);
                boolean isRefused = row.get(1).startsWith("fails startup");
                boolean isUsableAlone =
                        row.get(1).startsWith("is usable") && !row.get(1).contains("beside another part");
                if (read.contains("...")) {
                    read = read.replace("...", "true");
                }
                if (isUsableAlone) {
                    assertAccepted(read);
                } else {
                    assertRefused(read);
                }
                if (!isRefused) {
                    assertAccepted(read + " + #order.orderId");
                }
                judged++;
            }
        }

        assertThat(judged).isGreaterThan(15);
        assertAccepted(PAGE.part("key = \"(#headers\\['Sqs_SourceData'\\].*)\""));
    }

    private static void assertRefused(String expression) {
        assertThatThrownBy(() -> ListenerRig.key(expression, METHOD))
                .as(expression)
                .isInstanceOf(InvalidListenerException.class);
    }

    private static void assertAccepted(String expression) {
        assertThatCode(() -> ListenerRig.key(expression, METHOD)).as(expression).doesNotThrowAnyException();
    }

    /** Returns the cells of a section's table, without its head. */
    private static List<List<String>> rows(String section) {
        String text = PAGE.part("(?s)### %s\\R(.*?)\\R#".formatted(Pattern.quote(section)));
        return text.lines()
                .filter(line -> line.startsWith("|"))
                .skip(2)
                .map(line ->
                        Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
                .toList();
    }

    private static List<String> code(String cell) {
        return Pattern.compile("`([^`]*)`")
                .matcher(cell)
                .results()
                .map((MatchResult found) -> found.group(1))
                .filter(code -> !code.endsWith("()") || code.contains("."))
                .toList();
    }
}
