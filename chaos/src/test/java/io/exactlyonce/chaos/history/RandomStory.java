package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Story.began;
import static io.exactlyonce.chaos.history.Story.checked;
import static io.exactlyonce.chaos.history.Story.decided;
import static io.exactlyonce.chaos.history.Story.deciding;
import static io.exactlyonce.chaos.history.Story.done;
import static io.exactlyonce.chaos.history.Story.ended;
import static io.exactlyonce.chaos.history.Story.entered;
import static io.exactlyonce.chaos.history.Story.event;
import static io.exactlyonce.chaos.history.Story.failed;
import static io.exactlyonce.chaos.history.Story.killed;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** A random history that obeys the protocol: workers are killed and paused, handlers fail, and keys are parked. */
final class RandomStory {

    private static final List<String> POLICIES = List.of("RERUN", "RERUN", "PARK");

    /** The suffix of the names of calls in observe mode. */
    static final String OBSERVED = "-observed";

    private final Random random;

    private RandomStory(Random random) {
        this.random = random;
    }

    static List<Event> of(Random random) {
        return new RandomStory(random).tell();
    }

    private List<Event> tell() {
        List<Deque<Event>> scripts = new ArrayList<>();
        for (int key = 0; key < 6; key++) {
            scripts.add(new ArrayDeque<>(random.nextInt(4) == 0 ? database("d" + key) : external("k" + key)));
        }
        scripts.add(new ArrayDeque<>(group()));
        scripts.add(new ArrayDeque<>(observed("o")));
        List<Event> events = new ArrayList<>();
        while (!scripts.isEmpty()) {
            Deque<Event> script = scripts.get(random.nextInt(scripts.size()));
            events.add(script.remove());
            scripts.removeIf(Deque::isEmpty);
        }
        events.add(Event.of(Kind.FAULTS_OVER));
        events.add(Event.of(Kind.DRAINED));
        return events;
    }

    private List<Event> group() {
        List<Event> events = new ArrayList<>();
        for (int position = 1; position <= 3; position++) {
            String key = "g" + position;
            events.addAll(Story.grouped(key, "g", position));
            events.addAll(attempts(key, "RERUN", Partner.IGNORES_KEY));
        }
        return events;
    }

    /** An observed call. It is the key's only call, or earlier attempts had claimed the key. */
    private List<Event> observed(String key) {
        List<Event> events = new ArrayList<>(Story.external(key));
        boolean isAlone = random.nextBoolean();
        if (!isAlone) {
            events.addAll(attempts(key, "RERUN", Partner.IGNORES_KEY));
        }
        String call = key + OBSERVED;
        events.addAll(Story.observed(key, call));
        events.add(Story.effect(key, call));
        events.addAll(isAlone ? done(key, call) : Story.deleted(key, call));
        return events;
    }

    private List<Event> database(String key) {
        List<Event> events = new ArrayList<>(Story.sent(key, "DATABASE", "RERUN", Partner.NONE));
        int attempt = 1;
        for (; random.nextBoolean(); attempt++) {
            String call = key + "-" + attempt;
            events.addAll(entered(key, call, 1, false));
            events.addAll(killed(call));
        }
        String call = key + "-" + attempt;
        events.addAll(entered(key, call, 1, false));
        events.addAll(done(key, call));
        events.add(Event.of(Kind.ROW).on(key).in(call));
        return events;
    }

    private List<Event> external(String key) {
        String policy = POLICIES.get(random.nextInt(POLICIES.size()));
        Partner partner = random.nextBoolean() ? Partner.HONOURS_KEY : Partner.IGNORES_KEY;
        List<Event> events = new ArrayList<>(Story.sent(key, "EXTERNAL", policy, partner));
        events.addAll(attempts(key, policy, partner));
        return events;
    }

    private List<Event> attempts(String key, String policy, Partner partner) {
        Attempts attempts = new Attempts(key, partner);
        while (attempts.token < 4) {
            switch (random.nextInt(4)) {
                case 0 -> attempts.fail();
                case 1 -> attempts.die(random.nextBoolean());
                case 2 -> attempts.pause();
                default -> {
                    return attempts.succeed();
                }
            }
            if (policy.equals("PARK") && attempts.doubt) {
                return random.nextBoolean() ? attempts.park() : attempts.decide();
            }
        }
        return attempts.succeed();
    }

    /** The attempts at one key, one after another. A paused attempt continues after the last one. */
    private static final class Attempts {
        private final String key;
        private final Partner partner;
        private final List<Event> events = new ArrayList<>();
        private final List<String> paused = new ArrayList<>();
        private int token = 1;
        private boolean doubt;
        private boolean acted;

        Attempts(String key, Partner partner) {
            this.key = key;
            this.partner = partner;
        }

        private String enter() {
            String call = key + "-" + token;
            events.addAll(entered(key, call, token, doubt));
            events.addAll(checked(key, call));
            token++;
            return call;
        }

        private Event act(String call) {
            boolean recognised = acted && partner == Partner.HONOURS_KEY;
            acted = true;
            return Event.of(recognised ? Kind.RECOGNISED : Kind.EFFECT).on(key).in(call);
        }

        void fail() {
            events.add(failed(key, enter()));
        }

        void die(boolean late) {
            String call = enter();
            events.add(act(call));
            if (late) {
                events.add(event(Kind.HANDLED, key, call));
            }
            events.addAll(killed(call));
            doubt = true;
        }

        void pause() {
            String call = enter();
            events.add(began(Fault.PAUSE, call));
            paused.add(call);
            doubt = true;
        }

        List<Event> succeed() {
            String call = enter();
            events.add(act(call));
            events.addAll(done(key, call));
            return wake();
        }

        List<Event> park() {
            events.add(Event.of(Kind.DEAD_LETTERED).on(key).with(Detail.REASON, "parked"));
            return wake();
        }

        /** An operator checks the partner, and completes the key or lets it run again. */
        List<Event> decide() {
            events.add(deciding(key, "parked", "operator"));
            if (!acted) {
                events.add(decided(Kind.RELEASED, key, "parked", "operator"));
                return succeed();
            }
            events.add(decided(Kind.COMPLETED, key, "parked", "operator"));
            events.add(Event.of(Kind.ACKNOWLEDGING).by("w").on(key));
            events.add(Event.of(Kind.ACKNOWLEDGED).by("w").on(key));
            events.add(Story.state(key, "COMPLETED"));
            return wake();
        }

        private List<Event> wake() {
            for (String call : paused) {
                events.add(act(call));
                events.add(ended(Fault.PAUSE, call));
                events.add(event(Kind.CHECKING, key, call));
                events.add(event(Kind.REFUSED, key, call));
                events.add(failed(key, call));
            }
            return events;
        }
    }
}
