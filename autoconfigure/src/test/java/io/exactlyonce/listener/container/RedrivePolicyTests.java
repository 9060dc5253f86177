package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class RedrivePolicyTests {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":5} | 5",
                "{\"maxReceiveCount\" : \"10\", \"deadLetterTargetArn\":\"a\"} | 10",
                "{\"deadLetterTargetArn\":\"a\"} | "
            })
    void maxReceiveCountIsRead(String policy, Integer expected) {
        assertThat(RedrivePolicy.maxReceiveCount(policy)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"1, true", "2, true", "3, false", ", false"})
    void fewReceivesAreWarnedOf(Integer maxReceiveCount, boolean warned, CapturedOutput output) {
        RedrivePolicy.warnOfFewReceives(new Subscription(
                "orders", "queue", VisibilityWindow.ofSeconds(30), null, new ScriptedQueue(), maxReceiveCount));

        assertThat(output.getAll().contains("maxReceiveCount (%s)".formatted(maxReceiveCount)))
                .isEqualTo(warned);
    }
}
