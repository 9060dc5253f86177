package io.exactlyonce.window.watch;

import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.foresight.Outlook;

/**
 * What is known of one listener's window on one queue.
 *
 * @param subscription with the window as it was last read
 * @param outlook latencies, time to breach, strays
 * @param advice the window that the queue should have
 */
public record ListenerWindow(Subscription subscription, Outlook outlook, WindowAdvice advice) {}
