import BLERuntime
import Glibc

/// Measures the cores and the worlds made of them.
///
/// This file stays free of concurrency: what counts instructions does not survive a program whose `main` is
/// asynchronous.
do {
    if Arguments.askForHelp(CommandLine.arguments.dropFirst()) {
        try StandardStream.output.write(line: Arguments.help)
        exit(0)
    }
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    let results = arguments.run()
    let text = arguments.isJSON ? results.map(\.json).joined(separator: "\n") : Result.table(results)
    try StandardStream.output.write(line: text)
    exit(results.allSatisfy(\.isGood) ? 0 : 1)
} catch let mistake as Arguments.Mistake {
    try? StandardStream.error.write(line: "\(mistake.reason)\n\(Arguments.usage)")
    exit(2)
} catch {
    try? StandardStream.error.write(line: "\(error)")
    exit(2)
}
