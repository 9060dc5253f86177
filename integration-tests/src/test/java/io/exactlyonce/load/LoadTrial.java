package io.exactlyonce.load;

import io.exactlyonce.testing.UsesSqs;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks load trials that exceed ordinary loads. An ordinary build leaves them out; docs/contributing/load.md has the
 * commands.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("load")
@UsesSqs
@interface LoadTrial {}
