/** What a worker holds while it runs for long, and whether that grows. */
@NullMarked
package io.exactlyonce.chaos.soak;

import org.jspecify.annotations.NullMarked;
