package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

class QueueWatchTests {

    private static VisibilityWindow window(Duration configured, Map<QueueAttributeName, String> attributes) {
        return QueueWatch.window(configured, new QueueAttributes(attributes), "listener", "orders");
    }

    /** Trap: a default of 30 s overrode the visibility timeout of the queue. */
    @Test
    void queuesOwnVisibilityTimeoutCountsUnlessTheListenerHasOne() {
        Map<QueueAttributeName, String> attributes = Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "75");

        assertThat(window(null, attributes)).isEqualTo(VisibilityWindow.ofSeconds(75));
        assertThat(window(Duration.ofMillis(2_900), attributes)).isEqualTo(VisibilityWindow.ofSeconds(2));
    }

    @Test
    void unknownVisibilityTimeoutIsRefused() {
        assertThatThrownBy(() -> window(null, Map.of()))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listener 'listener' on queue 'orders'")
                .hasMessageContaining("messageVisibilitySeconds");
    }

    @Test
    void visibilityTimeoutThatSqsDoesNotHaveIsRefused() {
        assertThatThrownBy(() -> window(Duration.ZERO, Map.of())).isInstanceOf(InvalidListenerException.class);
        assertThatThrownBy(() -> window(Duration.ofHours(13), Map.of())).isInstanceOf(InvalidListenerException.class);
    }
}
