package io.exactlyonce.followup;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.testing.DocumentedCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples of {@code docs/follow-up-messages.md} are classes that compile, and that {@link FollowUpIT} runs. */
class FollowUpPageTests {

    private static final DocumentedCode PAGE = DocumentedCode.of("follow-up-messages.md");

    /** The tests' queues have a prefix, so that rights in an AWS account can name them. */
    private static final String PREFIX = "exactly-once-it-";

    @ParameterizedTest
    @CsvSource({
        "external, external/Fulfilment",
        "outbox, outbox/Bookings",
        "fifo, ordered/Fulfilment",
        "several, several/Fulfilment",
        "sdk, sdk/Fulfilment",
        "sns, topic/Fulfilment",
    })
    void exampleIsTheCodeThatIsTested(String block, String source) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("src/test/java/io/exactlyonce/followup", source + ".java"));

        String code = String.join("\n", lines.subList(1, lines.size())).strip().replace(PREFIX, "");

        assertThat(PAGE.block(block)).isEqualTo(code);
    }

    @Test
    void exampleOfTheTestKitIsTheCodeThatIsTested() throws IOException {
        String test =
                Files.readString(Path.of("../test/src/test/java/io/exactlyonce/test/kit/FollowUpMessagesTests.java"));
        String code = test.split(" *// tag::follow-up\n", 2)[1].split(" *// end::follow-up\n", 2)[0];

        assertThat(DocumentedCode.of("test-your-listeners.md").block("follow-up"))
                .isEqualTo(code.stripTrailing().stripIndent());
    }
}
