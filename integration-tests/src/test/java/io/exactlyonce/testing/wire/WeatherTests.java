package io.exactlyonce.testing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.JsonNodeFactory;

/** What the network may do so that no caller of the SDK sees a failure that AWS would not have caused. */
@Tag("ci")
class WeatherTests {

    private static final int CALLS = 300;

    private final List<String> done = new ArrayList<>();
    private final Weather weather = new Weather(
            call -> {
                done.add(call.action());
                return SqsAnswer.ok(JsonNodeFactory.instance.objectNode());
            },
            1,
            1);

    /** Returns how many of many requests were answered. */
    private long answered(String action) {
        SqsCall call = new SqsCall(action, "", JsonNodeFactory.instance.objectNode());
        return IntStream.range(0, CALLS)
                .mapToObj(i -> weather.answer(call))
                .filter(SqsAnswer::isOk)
                .count();
    }

    @Test
    void requestsAreLost() {
        assertThat(answered("GetQueueUrl")).isBetween(CALLS - 30L, CALLS - 1L);
    }

    /** What a lost answer brought would be invisible for a window, and what is sent twice be there twice. */
    @Test
    void receivesAndSendsAreDoneOnceOrNotAtAll() {
        assertThat(answered("ReceiveMessage") + answered("SendMessage")).isEqualTo(done.size());
    }

    @Test
    void deletesAreDoneTwiceAndTheirAnswersLost() {
        long answered = answered("DeleteMessageBatch");

        assertThat(answered).isLessThan(CALLS);
        assertThat(done).hasSizeGreaterThan(CALLS);
    }
}
