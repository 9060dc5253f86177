package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceSetupException;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.UrlResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Each logged or thrown text has a row in {@code docs/messages.md}, with cause and remedy, and each row has a text. */
class MessagesTests {

    private static final Path DOCUMENT = Path.of("../docs/messages.md");

    private static final Pattern MESSAGE = Pattern.compile("^\\| (WARN|ERROR) \\| `([^`]+)` \\| [^|]+ \\| [^|]+ \\|$");
    private static final Pattern EXCEPTION = Pattern.compile("^\\| `(\\w+)` \\| [^|]+ \\| [^|]+ \\|$");
    private static final Pattern ANALYZER = Pattern.compile("^\\| `(\\w+FailureAnalyzer)` \\| [^|]+ \\|$");

    private static PublishedCode code;
    private static List<String> lines;

    @BeforeAll
    static void read() throws IOException {
        code = PublishedCode.read();
        lines = Files.readAllLines(DOCUMENT);
    }

    private static Stream<String> rows(Pattern pattern, String shown) {
        return lines.stream()
                .map(pattern::matcher)
                .filter(matcher -> matcher.matches())
                .map(matcher -> matcher.replaceFirst(shown));
    }

    @Test
    void everyTextThatIsLoggedIsAConstant() {
        assertThat(code.messages()).hasSizeGreaterThan(50).noneMatch(text -> text.contains(PublishedCode.UNKNOWN));
    }

    @Test
    void everyWarningAndErrorIsExplainedOnce() {
        assertThat(rows(MESSAGE, "$1 $2")).containsExactlyInAnyOrderElementsOf(code.messages());
    }

    @Test
    void everyExceptionIsExplainedOnce() throws ClassNotFoundException {
        assertThat(rows(EXCEPTION, "$1"))
                .containsExactlyInAnyOrderElementsOf(code.exceptions(ExactlyOnceSetupException.class));
    }

    @Test
    void everyFailureAnalysisIsListedOnce() throws IOException {
        List<String> registered = new ArrayList<>();
        for (URL factories :
                Collections.list(FailureAnalyzer.class.getClassLoader().getResources("META-INF/spring.factories"))) {
            StringUtils.commaDelimitedListToSet(PropertiesLoaderUtils.loadProperties(new UrlResource(factories))
                            .getProperty(FailureAnalyzer.class.getName()))
                    .stream()
                    .filter(name -> name.startsWith("io.exactlyonce."))
                    .map(ClassUtils::getShortName)
                    .forEach(registered::add);
        }

        assertThat(rows(ANALYZER, "$1")).containsExactlyInAnyOrderElementsOf(registered);
    }
}
