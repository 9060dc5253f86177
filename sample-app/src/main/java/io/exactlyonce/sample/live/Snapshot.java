package io.exactlyonce.sample.live;

import io.exactlyonce.sample.live.Journal.Happening;
import java.util.List;

/**
 * The lab at one moment, for the page.
 *
 * @param second seconds since the start
 * @param chapter the current chapter
 * @param flowsSince second of the first order, or 0 if there was none
 * @param windowSeconds the queues' visibility timeout
 * @param isPartnerSlow whether the partner is slow, or becomes slow
 * @param replicaDelaySeconds the adjusted lag of the replica
 * @param happenings the latest events, the oldest first
 */
record Snapshot(
        double second,
        Chapter chapter,
        double flowsSince,
        long windowSeconds,
        boolean isPartnerSlow,
        long replicaDelaySeconds,
        SideView naive,
        SideView exactlyOnce,
        Engine engine,
        List<Happening> happenings) {}
