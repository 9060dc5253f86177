package io.exactlyonce.renewal;

import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The windows, or the leases, that are looked at as soon as one of them is due or in doubt.
 *
 * <p>None is missed: each announces its next look after every change that may make that earlier. When a look ends it first
 * forgets all announcements, and then asks all for their next look. A change comes either before it is asked, and counts
 * there, or it is announced after that, and is not forgotten. The same holds for what is added.
 */
final class DueSet<T> {

    private final Set<T> all = ConcurrentHashMap.newKeySet();
    private final Consumer<T> announce;
    private final NextLook next;

    /** @param announce has one of them announce its next look */
    DueSet(Consumer<T> announce, long now) {
        this.announce = announce;
        this.next = new NextLook(now);
    }

    /** Returns where they announce their next look. */
    NextLook next() {
        return next;
    }

    Collection<T> all() {
        return Collections.unmodifiableSet(all);
    }

    int size() {
        return all.size();
    }

    void add(T each) {
        all.add(each);
        announce.accept(each);
    }

    void remove(T each) {
        all.remove(each);
    }

    /** Tells whether one of them may be due or in doubt. */
    boolean isDue(long now) {
        return next.isDue(now);
    }

    /** All have been looked at. */
    void looked(long now) {
        next.startOver(now);
        all.forEach(announce);
    }
}
