/**
 * Listeners in observe mode: Spring Cloud AWS's own containers, with observation of each message and its handler's
 * outcome. Internal; it uses {@code observed}.
 */
@NullMarked
package io.exactlyonce.listener.observed;

import org.jspecify.annotations.NullMarked;
