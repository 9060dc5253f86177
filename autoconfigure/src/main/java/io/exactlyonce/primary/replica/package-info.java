/** How far the primary's replicas lag behind, and what to warn of. It uses {@code primary} only. */
@NullMarked
package io.exactlyonce.primary.replica;

import org.jspecify.annotations.NullMarked;
