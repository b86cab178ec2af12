import BLERuntime
import Glibc

/// The benchmarks of the cores, and of worlds made of them.
///
/// This file must not use concurrency: the tool that counts instructions does not work if `main` is asynchronous.
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
