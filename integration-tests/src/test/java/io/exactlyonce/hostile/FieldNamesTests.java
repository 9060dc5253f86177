package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The mapper of Spring Boot, which reads messages for Spring Cloud AWS, keeps the names of fields. A sender chooses them. The
 * property that docs/sizing.md names bounds them.
 */
class FieldNamesTests {

    /** The number of names on the page. */
    private static final int NAMES = 12_000;

    private static final int MANY = 1_000;

    private static final ApplicationContextRunner BOOT =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class));

    private static String documented() throws IOException {
        Matcher property = Pattern.compile("(?m)^(spring\\.jackson\\.\\S+)$")
                .matcher(Files.readString(Path.of("..", "docs", "sizing.md")));
        assertThat(property.find()).isTrue();
        return property.group(1);
    }

    /** A document for each name, as a sender makes them: no name is read twice. */
    private static void read(JsonMapper mapper, int names, int length) {
        for (int number = 0; number < names; number++) {
            String name = "%s%08d".formatted("n".repeat(length - 8), number);
            mapper.readValue("{\"%s\":0}".formatted(name), Order.class);
        }
    }

    record Order(String id) {}

    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void namesAreKeptAsLongAsTheSenderLikes() {
        BOOT.run(application -> {
            JsonMapper mapper = application.getBean(JsonMapper.class);
            read(mapper, 1, 8);
            long before = heap();

            read(mapper, MANY, 20_000);

            assertThat(heap() - before).isGreaterThan(MANY * 20_000L / 2);
            assertThat(mapper).isNotNull();
        });
    }

    @Test
    void documentedPropertyBoundsWhatIsKept() throws IOException {
        BOOT.withPropertyValues(documented()).run(application -> {
            JsonMapper mapper = application.getBean(JsonMapper.class);
            assertThatThrownBy(() -> read(mapper, 1, 1_001)).isInstanceOf(StreamConstraintsException.class);
            read(mapper, 1, 8);
            long before = heap();

            // Once more than fit, after which the table begins anew.
            read(mapper, NAMES + MANY, 1_000);
            long few = heap() - before;
            read(mapper, NAMES - MANY - 1_000, 1_000);
            long most = heap() - before;

            assertThat(Math.max(few, most)).isLessThan(16L << 20);
            assertThat(mapper).isNotNull();
        });
    }
}
