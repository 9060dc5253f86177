package io.exactlyonce.chaos.partner;

import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The acts of the partner. Each act is recorded at the moment when it happens. */
final class Ledger {

    private final Recorder recorder;
    private final Set<String> acted = ConcurrentHashMap.newKeySet();
    private final Set<String> honoured = ConcurrentHashMap.newKeySet();

    Ledger(Recorder recorder) {
        this.recorder = recorder;
    }

    /** Acts at each request. */
    void act(String key, String call) {
        recorder.record(Event.of(Kind.EFFECT).on(key).in(call));
        acted.add(key);
    }

    /** Acts once for each idempotency key. */
    void actOnce(String key, String call, String idempotencyKey) {
        if (honoured.add(idempotencyKey)) {
            act(key, call);
        } else {
            recorder.record(Event.of(Kind.RECOGNISED).on(key).in(call));
        }
    }

    boolean hasActed(String key) {
        return acted.contains(key);
    }
}
