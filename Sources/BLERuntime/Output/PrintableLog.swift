import Logging

/// A log handler that passes messages on after it has replaced characters that are unsafe on a terminal
/// (``PrintableText``).
struct PrintableLog: LogHandler {
    private var base: any LogHandler

    /// Creates a handler that passes messages on to another one.
    init(_ base: any LogHandler) { self.base = base }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(event.message.description.printable)"
        base.log(event: event)
    }
}
