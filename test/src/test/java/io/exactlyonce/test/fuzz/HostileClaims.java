package io.exactlyonce.test.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.result.ResultSerializer;
import io.exactlyonce.result.StoredResults;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.springframework.core.ParameterizedTypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Claims on hostile keys with hostile results and errors, many in one call of a store. Two keys are equal only if
 * their texts are; a result is returned unchanged; an error is one line; and a bad claim affects no other claim of the
 * call.
 */
public final class HostileClaims {

    private static final int MOST = 30;
    private static final Duration LEASE = Duration.ofMinutes(1);

    private static final ParameterizedTypeReference<String> TEXT = ParameterizedTypeReference.forType(String.class);

    /** The limit on results is the default of {@code exactly-once.claim.max-result-size}. */
    private static final StoredResults RESULTS = new StoredResults(new Json(), 64 << 10);

    /** How a handler's run ends. */
    public enum End {
        COMPLETED,
        RELEASED,
        PARKED
    }

    /**
     * A handler's run.
     *
     * @param scope the scope of its key
     * @param key the key in its message
     * @param end the way in which it ends
     * @param text its result, or the message of its exception
     */
    public record Run(String scope, String key, End end, String text) {
        @Override
        public String toString() {
            return "%s/%s %s with %s"
                    .formatted(HostileText.shown(scope), HostileText.shown(key), end, HostileText.shown(text));
        }
    }

    private HostileClaims() {}

    /** Returns runs of any kind. */
    public static List<Run> any(RandomGenerator random) {
        List<String> keys = HostileText.several(random, 1 + random.nextInt(MOST));
        return keys.stream()
                .map(key -> new Run(
                        random.nextBoolean() ? "orders" : HostileText.any(random),
                        key,
                        HostileText.pick(random, List.of(End.values())),
                        random.nextInt(20) == 0 ? HostileText.any(random).repeat(1_000) : HostileText.any(random)))
                .toList();
    }

    /** Claims the keys of all runs in one call, resolves the claims, and checks the answers to later claims. */
    public static void check(ClaimStore store, ParkedClaims parked, List<Run> runs) {
        Map<ClaimKey, Run> byKey = storable(runs);
        if (byKey.isEmpty()) {
            return;
        }
        List<ClaimRequest> first = requests(byKey);
        assertThat(store.claim(first)).hasSize(first.size()).allSatisfy(outcome -> assertAcquired(outcome, 1));
        assertThat(store.claim(requests(byKey))).hasOnlyElementsOfType(HeldElsewhere.class);
        assertThat(store.peek(byKey.keySet()))
                .containsOnlyKeys(byKey.keySet())
                .allSatisfy((key, state) -> assertThat(state).isEqualTo(KeyState.HELD));

        List<ClaimResolution> resolutions = first.stream()
                .map(request -> end(request, byKey.get(request.key())))
                .toList();
        assertThat(store.resolve(resolutions).granted())
                .containsExactlyInAnyOrderElementsOf(
                        first.stream().map(ClaimRequest::id).toList());

        List<ClaimOutcome> again = store.claim(requests(byKey));
        for (int index = 0; index < resolutions.size(); index++) {
            assertEnded(resolutions.get(index), byKey.get(first.get(index).key()), again.get(index), parked);
        }
    }

    /** Returns the runs whose keys pass the rules of every listener. Their scopes have a permitted length. */
    private static Map<ClaimKey, Run> storable(List<Run> runs) {
        String own = UUID.randomUUID() + "/";
        Map<ClaimKey, Run> storable = new LinkedHashMap<>();
        for (Run run : runs) {
            try {
                String scope = run.scope().codePointCount(0, run.scope().length()) > 100 ? "long" : run.scope();
                storable.putIfAbsent(KeyRules.key(own + scope, run.key()), run);
            } catch (UnusableKeyException | IllegalArgumentException refused) {
                assertThat(refused).hasMessageMatching("[\\x20-\\x7E]+; [\\x20-\\x7E]+");
            }
        }
        return storable;
    }

    private static List<ClaimRequest> requests(Map<ClaimKey, Run> byKey) {
        return byKey.keySet().stream()
                .map(key -> new ClaimRequest(key, UUID.randomUUID(), "worker-1", LEASE))
                .toList();
    }

    private static void assertAcquired(ClaimOutcome outcome, int attempt) {
        assertThat(outcome).isInstanceOf(Acquired.class);
        assertThat(((Acquired) outcome).attempt()).isEqualTo(attempt);
        assertThat(((Acquired) outcome).inDoubt()).isFalse();
    }

    private static ClaimResolution end(ClaimRequest request, Run run) {
        return switch (run.end()) {
            case COMPLETED ->
                new ClaimResolution.Completed(request.id(), RESULTS.writeIfPossible(request.key(), run.text()));
            case RELEASED -> new ClaimResolution.Released(request.id(), run.text(), false);
            case PARKED -> new ClaimResolution.Parked(request.id(), run.text(), false);
        };
    }

    private static void assertEnded(ClaimResolution resolution, Run run, ClaimOutcome outcome, ParkedClaims parked) {
        ClaimKey key = resolution.claim().key();
        if (resolution instanceof ClaimResolution.Completed completed) {
            assertThat(outcome).isEqualTo(new AlreadyCompleted(completed.result()));
            if (completed.result() != null) {
                String read = RESULTS.read(key, completed.result(), TEXT);
                assertThat(read).isEqualTo(run.text());
            }
        } else if (resolution instanceof ClaimResolution.Released) {
            assertAcquired(outcome, 2);
        } else {
            assertThat(outcome).isEqualTo(new ClaimOutcome.Parked());
            assertIsOneLine(parked.find(key).orElseThrow().reason());
            parked.details(key).map(ClaimDetails::error).ifPresent(HostileClaims::assertIsOneLine);
        }
    }

    private static void assertIsOneLine(String error) {
        assertThat(error.length()).isLessThanOrEqualTo(1_000);
        assertThat(IntStream.range(0, error.length()).filter(at -> isControl(error, at)))
                .as("control characters of %s", HostileText.shown(error))
                .isEmpty();
    }

    private static boolean isControl(String text, int at) {
        int point = text.codePointAt(at);
        boolean isSecondHalf = at > 0 && Character.isSurrogatePair(text.charAt(at - 1), text.charAt(at));
        return switch (Character.getType(point)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            case Character.SURROGATE -> !isSecondHalf;
            default -> false;
        };
    }

    /** A serializer as applications write it. */
    private static final class Json implements ResultSerializer {

        private final JsonMapper mapper = new JsonMapper();

        @Override
        public String toJson(Object result) {
            return mapper.writeValueAsString(result);
        }

        @Override
        public Object fromJson(String json, Type type) {
            return mapper.readValue(json, mapper.constructType(type));
        }
    }
}
