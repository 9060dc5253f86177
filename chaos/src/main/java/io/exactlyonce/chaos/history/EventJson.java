package io.exactlyonce.chaos.history;

import tools.jackson.databind.json.JsonMapper;

/** Converts events to and from lines of JSON. */
final class EventJson {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private EventJson() {}

    static String write(Event event) {
        return MAPPER.writeValueAsString(event);
    }

    static Event read(String line) {
        return MAPPER.readValue(line, Event.class);
    }
}
