package io.github.resilience4j.timelimiter.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** A copy of Resilience4j's annotation under its name, because the engine detects it without the library. */
@Retention(RetentionPolicy.RUNTIME)
public @interface TimeLimiter {

    String name();
}
