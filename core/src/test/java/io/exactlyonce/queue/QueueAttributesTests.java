package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.QueueAttributes.Redrive;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

class QueueAttributesTests {

    private static QueueAttributes redriven(String policy) {
        return new QueueAttributes(Map.of(QueueAttributeName.REDRIVE_POLICY, policy));
    }

    /** SQS returns the number as it was set, with or without quotation marks. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":5} | arn:aws:sqs:eu-west-1:1:dlq | 5",
                "{\"maxReceiveCount\" : \"10\", \"deadLetterTargetArn\":\"a\"} | a | 10"
            })
    void redrivePolicyNamesTheDeadLetterQueueAndTheReceivesBeforeIt(String policy, String target, int receives) {
        assertThat(redriven(policy).redrive()).isEqualTo(new Redrive(target, receives));
        assertThat(redriven(policy).maxReceiveCount()).isEqualTo(receives);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no JSON",
                "{\"deadLetterTargetArn\":\"a\"}",
                "{\"deadLetterTargetArn\":\"a\",\"maxReceiveCount\":\"many\"}",
                "{\"deadLetterTargetArn\":\"a\",\"maxReceiveCount\":0}",
                "{\"deadLetterTargetArn\":\"a\",\"maxReceiveCount\":99999999999}",
                "{\"maxReceiveCount\":5}",
                "{\"deadLetterTargetArn\":\"told\\nFORGED\",\"maxReceiveCount\":5}",
                "{\"deadLetterTargetArn\":{\"a\":1},\"maxReceiveCount\":5}",
                "{\"deadLetterTargetArn\":\"a\",\"maxReceiveCount\":1e400}",
                "[[[[[[[[[[",
                "null"
            })
    void policyThatNamesNoQueueOrNoNumberIsNone(String policy) {
        assertThat(redriven(policy).redrive()).isNull();
        assertThat(redriven(policy).maxReceiveCount()).isNull();
    }

    @Test
    void onlyNumbersAreNumbers() {
        QueueAttributes attributes = new QueueAttributes(Map.of(
                QueueAttributeName.MESSAGE_RETENTION_PERIOD, "60",
                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES, "-",
                QueueAttributeName.DELAY_SECONDS, "12345678901234567890"));

        assertThat(attributes.retention()).isEqualTo(Duration.ofMinutes(1));
        assertThat(attributes.number(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES))
                .isNull();
        assertThat(attributes.number(QueueAttributeName.DELAY_SECONDS)).isNull();
        assertThat(QueueAttributes.UNKNOWN.retention()).isNull();
        assertThat(attributes.values())
                .containsOnlyKeys("ApproximateNumberOfMessages", "DelaySeconds", "MessageRetentionPeriod");
    }
}
