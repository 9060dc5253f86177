package com.example.shop;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Name;

/** An application's own properties, in shapes that our properties do not have. */
@ConfigurationProperties("exactly-once.shop")
public record ShopProperties(
        @Nullable Till till,
        @Name("class") String type,
        String[] queues,
        @Nullable Integer limit) {

    /** Bound by its setters. */
    public static final class Till {

        private int drawers;

        public int getDrawers() {
            return drawers;
        }

        public void setDrawers(int drawers) {
            this.drawers = drawers;
        }
    }
}
