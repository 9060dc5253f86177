package io.exactlyonce.primary;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean that keeps claims, in place of a pool made from connection details. It must lead to the
 * primary alone: one that routes reads to a replica stops the start.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @ExactlyOnceDataSource
 * HikariDataSource claims() { ... }
 * }</pre>
 *
 * <p>{@code defaultCandidate = false} keeps the application's own DataSource the one that is injected elsewhere. Give claims
 * a pool of their own: beside slow handlers in a shared one, renewals wait for connections until leases end. The pool's
 * settings stay as they are. One without autocommit, in another isolation level than READ COMMITTED, or of fewer than two
 * connections stops the start.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier public @interface ExactlyOnceDataSource {}
