package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

class WatchedQueueTests {

    private static VisibilityWindow window(Duration configured, Map<QueueAttributeName, String> attributes) {
        return WatchedQueue.window(
                configured, attributes.get(QueueAttributeName.VISIBILITY_TIMEOUT), "listener", "orders");
    }

    /** Trap: a default of 30 s overrode the queue's own setting. */
    @Test
    void queuesOwnWindowCountsUnlessTheListenerHasOne() {
        Map<QueueAttributeName, String> attributes = Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "75");

        assertThat(window(null, attributes)).isEqualTo(VisibilityWindow.ofSeconds(75));
        assertThat(window(Duration.ofMillis(2_900), attributes)).isEqualTo(VisibilityWindow.ofSeconds(2));
    }

    @Test
    void windowThatIsNotKnownIsRefused() {
        assertThatThrownBy(() -> window(null, Map.of()))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listener 'listener' on queue 'orders'")
                .hasMessageContaining("messageVisibilitySeconds");
    }

    @Test
    void windowThatSqsDoesNotHaveIsRefused() {
        assertThatThrownBy(() -> window(Duration.ZERO, Map.of())).isInstanceOf(InvalidListenerException.class);
        assertThatThrownBy(() -> window(Duration.ofHours(13), Map.of())).isInstanceOf(InvalidListenerException.class);
    }

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
        assertThat(WatchedQueue.maxReceiveCount(policy)).isEqualTo(expected);
    }
}
