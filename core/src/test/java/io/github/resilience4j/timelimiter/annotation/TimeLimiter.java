package io.github.resilience4j.timelimiter.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Resilience4j's, by its name: it is found without its library. */
@Retention(RetentionPolicy.RUNTIME)
public @interface TimeLimiter {

    String name();
}
