/**
 * Internal: wiring, with auto-configurations, properties and failure analyzers. This package may use every package, and
 * no package uses it.
 */
@NullMarked
package io.exactlyonce.autoconfigure;

import org.jspecify.annotations.NullMarked;
