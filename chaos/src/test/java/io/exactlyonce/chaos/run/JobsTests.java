package io.exactlyonce.chaos.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.chaos.queue.Stream;
import io.exactlyonce.chaos.queue.TestMessage;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class JobsTests {

    private static final int MANY = 40_000;

    private static List<TestMessage> draw(long seed) {
        Jobs jobs = new Jobs(seed, true);
        return IntStream.range(0, MANY).mapToObj(number -> jobs.next()).toList();
    }

    private static Map<String, List<TestMessage>> groups() {
        return draw(5).stream()
                .filter(message -> message.stream() == Stream.STEPS)
                .collect(Collectors.groupingBy(TestMessage::group));
    }

    private static boolean isBad(TestMessage message) {
        return !message.body().contains("\"GOOD\"") && !message.body().contains("\"KEYLESS\"");
    }

    @Test
    void oneSeedDrawsOneSequence() {
        assertThat(draw(3)).isEqualTo(draw(3)).isNotEqualTo(draw(4));
    }

    @Test
    void nothingIsSentThatNeedsAnOutboxWhereThereIsNone() {
        Jobs jobs = new Jobs(5, false);

        assertThat(IntStream.range(0, MANY).mapToObj(number -> jobs.next().stream()))
                .contains(Stream.ORDERS)
                .doesNotContain(Stream.SALES, Stream.SHIPMENTS);
    }

    @Test
    void eachQueueHasMessagesThatFailThatAreHopelessThatCannotBeReadAndThatAreSentTwice() {
        Map<Stream, List<TestMessage>> streams = draw(5).stream().collect(Collectors.groupingBy(TestMessage::stream));

        Set<Stream> sent = EnumSet.allOf(Stream.class);
        sent.remove(Stream.SHIPMENTS);
        assertThat(streams).containsOnlyKeys(sent);
        streams.forEach((stream, messages) -> {
            assertThat(messages)
                    .as("%s", stream)
                    .anyMatch(message -> message.body().contains("\"POISON\""));
            assertThat(messages)
                    .as("%s", stream)
                    .anyMatch(message -> message.body().contains("\"HOPELESS\""));
            assertThat(messages)
                    .as("%s", stream)
                    .anyMatch(message -> !message.body().endsWith("}"));
            assertThat(messages.stream().map(TestMessage::key).distinct().count())
                    .as("%s", stream)
                    .isLessThan(messages.size());
        });
    }

    @Test
    void onlyListenersThatDecideOnMissingKeysGetMessagesWithoutOne() {
        assertThat(draw(5).stream()
                        .filter(message -> message.body().contains("\"KEYLESS\""))
                        .map(TestMessage::stream)
                        .distinct())
                .containsExactlyInAnyOrder(Stream.MAILS, Stream.BOOKINGS, Stream.INVOICES, Stream.STEPS);
    }

    @Test
    void listenersWithALimitGetMoreMessagesThatFail() {
        Map<Boolean, Long> failing = draw(5).stream()
                .filter(message -> message.stream() == Stream.CHARGES || message.stream() == Stream.PARCELS)
                .filter(message -> message.body().contains("\"POISON\""))
                .collect(Collectors.partitioningBy(
                        message -> message.stream() == Stream.CHARGES, Collectors.counting()));

        assertThat(failing.get(true)).isGreaterThan(3 * failing.get(false));
    }

    @Test
    void positionsOfAGroupGrowAlsoWithMessagesThatAreSentAgain() {
        groups().values()
                .forEach(messages -> assertThat(
                                messages.stream().map(TestMessage::position).toList())
                        .isEqualTo(IntStream.rangeClosed(1, messages.size())
                                .boxed()
                                .toList()));
    }

    @Test
    void groupsHaveTimeBetweenMessagesThatHoldThemUp() {
        groups().values().forEach(messages -> {
            Map<Boolean, List<Integer>> bad = messages.stream()
                    .collect(Collectors.partitioningBy(
                            JobsTests::isBad, Collectors.mapping(TestMessage::position, Collectors.toList())));
            List<Integer> places = bad.getOrDefault(true, List.of());
            for (int index = 1; index < places.size(); index++) {
                assertThat(places.get(index) - places.get(index - 1)).isGreaterThanOrEqualTo(10);
            }
        });
    }

    @Test
    void whatHoldsAGroupUpIsNotSentAgain() {
        Map<String, Set<String>> seen = new HashMap<>();
        groups().forEach((group, messages) -> messages.stream()
                .filter(JobsTests::isBad)
                .forEach(message -> assertThat(seen.computeIfAbsent(group, any -> new HashSet<>())
                                .add(message.key()))
                        .isTrue()));
        assertThat(seen).isNotEmpty();
    }
}
