/**
 * Listeners in observe mode: Spring Cloud AWS's own containers, with observation of each message and its handler's
 * outcome. Internal; it uses {@code observed}, and {@code delivery} to read what a handler threw.
 */
@NullMarked
package io.exactlyonce.listener.observed;

import org.jspecify.annotations.NullMarked;
