package io.exactlyonce.delivery;

import static io.exactlyonce.delivery.DeliveryState.ABANDONED;
import static io.exactlyonce.delivery.DeliveryState.CLAIMED;
import static io.exactlyonce.delivery.DeliveryState.CLAIMING;
import static io.exactlyonce.delivery.DeliveryState.DELETING;
import static io.exactlyonce.delivery.DeliveryState.FAILED;
import static io.exactlyonce.delivery.DeliveryState.GONE;
import static io.exactlyonce.delivery.DeliveryState.HANDLED;
import static io.exactlyonce.delivery.DeliveryState.HANDLING;
import static io.exactlyonce.delivery.DeliveryState.HELD_BACK;
import static io.exactlyonce.delivery.DeliveryState.RECEIVED;
import static io.exactlyonce.delivery.DeliveryState.RECORDED;
import static io.exactlyonce.delivery.DeliveryState.RETURNED;
import static io.exactlyonce.delivery.DeliveryState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests each change of a delivery's state against the table in docs/contributing/architecture.md. */
class DeliveryStateTests {

    private static final Map<DeliveryState, Set<DeliveryState>> ARROWS = new EnumMap<>(Map.ofEntries(
            Map.entry(RECEIVED, Set.of(CLAIMING, HELD_BACK, RETURNED, ABANDONED)),
            Map.entry(HELD_BACK, Set.of(RETURNED, ABANDONED)),
            Map.entry(CLAIMING, Set.of(CLAIMED, RECORDED, WAITING, RETURNED, ABANDONED)),
            Map.entry(CLAIMED, Set.of(HANDLING, FAILED, HELD_BACK, RETURNED, ABANDONED)),
            Map.entry(HANDLING, Set.of(HANDLED, FAILED, CLAIMING, ABANDONED)),
            Map.entry(HANDLED, Set.of(RECORDED, ABANDONED)),
            Map.entry(FAILED, Set.of(RETURNED, ABANDONED)),
            Map.entry(RECORDED, Set.of(DELETING, GONE)),
            Map.entry(WAITING, Set.of(DELETING, RETURNED, ABANDONED)),
            Map.entry(DELETING, Set.of(GONE)),
            Map.entry(RETURNED, Set.of()),
            Map.entry(ABANDONED, Set.of()),
            Map.entry(GONE, Set.of())));

    private final DeliveryRig rig = new DeliveryRig();

    static Stream<Arguments> pairs() {
        return Arrays.stream(DeliveryState.values())
                .flatMap(from -> Arrays.stream(DeliveryState.values()).map(to -> Arguments.of(from, to)));
    }

    @Test
    void pageForMaintainersHasTheSameSteps() throws IOException {
        Map<DeliveryState, Set<DeliveryState>> shown = new EnumMap<>(DeliveryState.class);
        for (String line : Files.readAllLines(Path.of("../docs/contributing/architecture.md"))) {
            String[] cells = line.split("\\|");
            if (cells.length == 3 && !states(cells[2]).isEmpty()) {
                boolean isOfOthers = cells[1].contains("each but");
                Set<DeliveryState> from = isOfOthers ? EnumSet.copyOf(shown.keySet()) : states(cells[1]);
                from.removeAll(isOfOthers ? states(cells[1]) : Set.of());
                from.forEach(state -> shown.merge(state, states(cells[2]), DeliveryStateTests::union));
            }
        }
        ARROWS.keySet().forEach(state -> shown.putIfAbsent(state, Set.of()));

        assertThat(shown).isEqualTo(ARROWS);
    }

    private static Set<DeliveryState> union(Set<DeliveryState> some, Set<DeliveryState> others) {
        return Stream.of(some, others).flatMap(Set::stream).collect(Collectors.toSet());
    }

    private static Set<DeliveryState> states(String cell) {
        return Arrays.stream(DeliveryState.values())
                .filter(state -> cell.contains("`" + state + "`"))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(DeliveryState.class)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void stepIsTakenOnceIfThereIsAnArrowAndRefusedOtherwise(DeliveryState from, DeliveryState to) {
        Delivery delivery = in(from);

        if (ARROWS.get(from).contains(to)) {
            assertThat(delivery.transition(from, to)).isTrue();
            assertThat(delivery.state()).isEqualTo(to);
            assertThat(delivery.transition(from, to)).as("a second time").isFalse();
        } else {
            assertThatIllegalArgumentException().isThrownBy(() -> delivery.transition(from, to));
            assertThat(delivery.state()).isEqualTo(from);
        }
    }

    /**
     * The effect has happened. Until the store has recorded the effect, the engine neither releases the key nor returns
     * the message.
     */
    @Test
    void messageWhoseEffectIsNotOnRecordIsNeverReturned() {
        assertThat(reachableFrom(HANDLED)).containsExactlyInAnyOrder(RECORDED, DELETING, GONE, ABANDONED);
    }

    @Test
    void messageIsDeletedOnlyOnceItsKeyIsCompleted() {
        assertThat(ARROWS.keySet().stream().filter(state -> ARROWS.get(state).contains(DELETING)))
                .containsExactlyInAnyOrder(RECORDED, WAITING);
    }

    @ParameterizedTest
    @EnumSource
    void deliveryEndsFromAnyState(DeliveryState state) {
        assertThat(reachableFrom(state).stream().anyMatch(end -> ARROWS.get(end).isEmpty())
                        || ARROWS.get(state).isEmpty())
                .isTrue();

        Delivery delivery = in(state);
        delivery.end();

        assertThat(ARROWS.get(delivery.state())).isEmpty();
        assertThat(delivery.ended()).isCompleted();
    }

    @ParameterizedTest
    @EnumSource
    void deliveryLeavesItsPipelineOnce(DeliveryState state) {
        Delivery delivery = in(state);
        boolean hasLeft = List.of(WAITING, DELETING, RETURNED, ABANDONED, GONE).contains(state);

        assertThat(delivery.settle().isPresent()).isEqualTo(!hasLeft);
        assertThat(delivery.settle()).isEmpty();
    }

    /**
     * The group waits while this message may have had an effect that is not recorded. A redelivery need not be awaited,
     * because this is the last receive.
     */
    @ParameterizedTest
    @EnumSource
    void messageOnItsLastReceiveLeavesItsQueueUnlessItsEffectIsInDoubt(DeliveryState state) {
        Delivery delivery = in(state, rig.receive(rig.receiving(2), "handle", 2));

        assertThat(delivery.leavesItsQueue())
                .isEqualTo(!Set.of(HANDLED, ABANDONED).contains(state));
    }

    @ParameterizedTest
    @EnumSource
    void messageThatMayComeOnceMoreLeavesItsQueueOnlyIfItsKeyIsCompleted(DeliveryState state) {
        Delivery delivery = in(state, rig.receive(rig.receiving(2), "handle", 1));

        assertThat(delivery.leavesItsQueue())
                .isEqualTo(Set.of(RECORDED, DELETING, GONE).contains(state));
    }

    private Set<DeliveryState> reachableFrom(DeliveryState state) {
        Set<DeliveryState> reached = EnumSet.noneOf(DeliveryState.class);
        Deque<DeliveryState> next = new ArrayDeque<>(ARROWS.get(state));
        while (!next.isEmpty()) {
            DeliveryState one = next.pop();
            if (reached.add(one)) {
                next.addAll(ARROWS.get(one));
            }
        }
        return reached;
    }

    private Delivery in(DeliveryState state) {
        return in(state, rig.receive());
    }

    private static Delivery in(DeliveryState state, Delivery delivery) {
        DeliveryState now = RECEIVED;
        for (DeliveryState next : way(state)) {
            assertThat(delivery.transition(now, next)).isTrue();
            now = next;
        }
        return delivery;
    }

    private static List<DeliveryState> way(DeliveryState state) {
        return switch (state) {
            case RECEIVED -> List.of();
            case HELD_BACK, CLAIMING, RETURNED, ABANDONED -> List.of(state);
            case CLAIMED, WAITING, RECORDED -> List.of(CLAIMING, state);
            case HANDLING, FAILED -> List.of(CLAIMING, CLAIMED, state);
            case HANDLED -> List.of(CLAIMING, CLAIMED, HANDLING, state);
            case DELETING -> List.of(CLAIMING, RECORDED, state);
            case GONE -> List.of(CLAIMING, RECORDED, DELETING, state);
        };
    }
}
