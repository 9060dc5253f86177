package io.exactlyonce.chaos.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** A change of one event that turns a valid history into one that must be rejected. */
enum Mutation {
    DOUBT_IS_NOT_TOLD {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ENTERED && event.is(Detail.IN_DOUBT);
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event.with(Detail.IN_DOUBT, false));
        }
    },
    ACTS_TWICE {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.EFFECT && !isObserved(event);
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event, event);
        }
    },
    ACTS_THOUGH_RECOGNISED {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.RECOGNISED;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(Event.of(Kind.EFFECT).on(event.key()).in(event.call()));
        }
    },
    ROW_TWICE {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ROW;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event, event);
        }
    },
    ROW_IS_MISSING {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ROW;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of();
        }
    },
    CLAIM_IS_HELD_IN_THE_END {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.STATE;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event.with(Detail.STATUS, "HELD"));
        }
    },
    COMPLETION_IS_MISSING {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.STATE;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of();
        }
    },
    DEAD_LETTER_IS_MISSING {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.DEAD_LETTERED;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of();
        }
    },
    DECISION_COUNTS_TWICE {
        @Override
        boolean applies(List<Event> events, Event event) {
            return isDecided(event);
        }

        @Override
        List<Event> replace(Event event) {
            String claim = event.detail(Detail.CLAIM);
            return List.of(
                    event,
                    Story.deciding(event.key(), claim, "another"),
                    Story.decided(event.kind(), event.key(), claim, "another"));
        }
    },
    DECISION_IS_REFUSED {
        @Override
        boolean applies(List<Event> events, Event event) {
            return isDecided(event);
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(Story.decided(Kind.OUTDECIDED, event.key(), event.detail(Detail.CLAIM), event.worker()));
        }
    },
    TOKEN_COMES_TWICE {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ENTERED && event.number(Detail.TOKEN) > 1;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event.with(Detail.TOKEN, event.number(Detail.TOKEN) - 1));
        }
    },
    CHECK_PASSES_AFTER_A_TAKEOVER {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.REFUSED && isTakenOver(events, event);
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(Story.event(Kind.CHECKED, event.key(), event.call()));
        }
    },
    RUNS_AGAIN_AFTER_ITS_COMPLETION {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ACKNOWLEDGED && !event.key().startsWith("d") && !isObserved(event);
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event, Story.entered(event.key(), "again", 99, true).get(1));
        }
    },
    DELETED_BEFORE_ITS_HANDLER_RETURNED {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.ENTERED && count(events, event.key(), Kind.ENTERED) == 1;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(
                    event, Event.of(Kind.ACKNOWLEDGING).by(event.worker()).on(event.key()));
        }
    },
    KILL_IS_MISSING {
        /** A kill between two effects. */
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.FAULT_BEGAN
                    && event.detail(Detail.FAULT).equals("KILL")
                    && isRepeated(events, event.worker());
        }

        @Override
        List<Event> replace(Event event) {
            return List.of();
        }
    },
    GROUP_GOES_ON_TOO_EARLY {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.SENDING && event.key().equals("g3");
        }

        @Override
        List<Event> replace(Event event) {
            return List.of(event.with(Detail.POSITION, 0));
        }
    },
    DOES_NOT_DRAIN {
        @Override
        boolean applies(List<Event> events, Event event) {
            return event.kind() == Kind.DRAINED;
        }

        @Override
        List<Event> replace(Event event) {
            return List.of();
        }
    };

    abstract boolean applies(List<Event> events, Event event);

    abstract List<Event> replace(Event event);

    /** Returns a history with one event changed at random, or the same history if no event can be changed. */
    final List<Event> apply(List<Event> events, Random random) {
        int[] places = IntStream.range(0, events.size())
                .filter(place -> applies(events, events.get(place)))
                .toArray();
        if (places.length == 0) {
            return events;
        }
        int place = places[random.nextInt(places.length)];
        List<Event> changed = new ArrayList<>(events.subList(0, place));
        changed.addAll(replace(events.get(place)));
        changed.addAll(events.subList(place + 1, events.size()));
        return changed;
    }

    /** Whether the event belongs to a call in observe mode, or to its worker. */
    private static boolean isObserved(Event event) {
        return event.call().endsWith(RandomStory.OBSERVED) || event.worker().endsWith(RandomStory.OBSERVED);
    }

    private static boolean isDecided(Event event) {
        return event.kind() != Kind.DECIDING && !event.detail(Detail.DECISION).isEmpty();
    }

    private static long count(List<Event> events, String key, Kind kind) {
        return events.stream()
                .filter(event -> event.key().equals(key) && event.kind() == kind)
                .count();
    }

    /** Whether the call's key was entered again, although it may be parked instead. */
    private static boolean isTakenOver(List<Event> events, Event event) {
        return events.stream()
                .filter(other -> other.kind() == Kind.ENTERED && other.key().equals(event.key()))
                .anyMatch(other -> other.call().compareTo(event.call()) > 0);
    }

    /** Whether the worker's call acted at a partner that ignores the key, and a later call acted too. */
    private static boolean isRepeated(List<Event> events, String worker) {
        Predicate<Event> acts = event -> event.kind() == Kind.EFFECT;
        return events.stream()
                .filter(acts.and(effect -> Story.workerOf(effect.call()).equals(worker)))
                .anyMatch(effect -> events.stream()
                        .filter(acts)
                        .anyMatch(other ->
                                other.key().equals(effect.key()) && other.call().compareTo(effect.call()) > 0));
    }
}
