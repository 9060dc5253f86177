package io.exactlyonce.sample.live;

import io.exactlyonce.sample.live.Till.InHand;
import io.exactlyonce.sample.live.Till.Takings;
import java.util.List;

/**
 * One side on the page.
 *
 * @param queued messages in the side's queue: waiting, in flight or delayed
 * @param p95Millis p95 of the handlers that ended recently
 * @param ready workers that take orders
 * @param starting workers that do not take orders yet
 */
record SideView(
        Takings takings, List<InHand> inHand, long queued, long p95Millis, List<String> ready, List<String> starting) {}
